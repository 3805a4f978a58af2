return 1;
}
async function other() {
  return 2;
//> error: syntax
