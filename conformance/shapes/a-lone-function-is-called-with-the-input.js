//! input = ["x", "y"]
function main(list) {
  return list.join("-");
}
//> value: "x-y"
