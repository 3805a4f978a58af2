//! namespaces = ["n.*", "n.echo"]
//! oracle = false
const { echo } = tools.n;
return [echo === tools.n.echo, echo === external_n_echo, await echo(5), echo.name, typeof external_n_inc];
//> value: [true,true,5,"echo","undefined"]
