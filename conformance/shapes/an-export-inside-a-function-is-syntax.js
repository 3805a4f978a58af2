function f() { export default 1; }
//> error: syntax
