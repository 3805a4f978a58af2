//! input = { a = 2 }
(input) => input.a * 21
//> value: 42
