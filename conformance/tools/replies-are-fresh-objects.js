//! tools = ["echo"]
const o = { a: [1] };
const [x, y] = await Promise.all([tools.echo(o), tools.echo(o)]);
x.a.push(2);
return [x === y, y.a.length, o.a.length, Object.getPrototypeOf(x) === Object.prototype, Array.isArray(x.a)];
//> value: [false,1,1,true,true]
