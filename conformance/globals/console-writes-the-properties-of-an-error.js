const error = new TypeError("bad");
error.stack = "TypeError: bad\n    at f (x.js:1:1)";
error.code = "E_BAD";
error.details = { a: [1] };
console.error(error);
return null;
//> value: null
//> stderr: "TypeError: bad\n    at f (x.js:1:1) {\n  code: 'E_BAD',\n  details: { a: [ 1 ] }\n}"
