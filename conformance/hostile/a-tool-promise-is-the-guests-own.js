//! tools = ["echo", "fail"]
const p = tools.echo(1), q = tools.fail("x");
let error;
try { await q; } catch (caught) { error = caught; }
return [Object.getPrototypeOf(p) === Promise.prototype, error.constructor === Error || error instanceof Error, error.constructor.constructor === Function, tools.echo.constructor === Function || tools.echo instanceof Function];
//> value: [true,true,true,true]
