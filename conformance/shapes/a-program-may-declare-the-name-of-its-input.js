//! input = { a = 1 }
const input = { own: true };
return input;
//> value: {"own":true}
