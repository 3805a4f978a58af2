//! input = { n = 4 }
const square = n => n * n;
export default function main(input) {
  return square(input.n);
}
//> value: 16
