//! input = { name = "Ann" }
(function ({ name }) { return `Hello ${name}`; })
//> value: "Hello Ann"
