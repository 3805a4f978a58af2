if (true) {
  return 1;
//> error: syntax
