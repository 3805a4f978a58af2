//! tools = ["fail"]
//! oracle = false
// Node is no sandbox.
const texts = [new Error("x").stack];
try { null.x; } catch (error) { texts.push(error.stack); }
try { eval("("); } catch (error) { texts.push(error.stack); }
try { await tools.fail("x"); } catch (error) { texts.push(error.stack); }
try { new URL("nope"); } catch (error) { texts.push(error.stack); }
return texts.some(text => /\/(home|root|usr|opt|src|build|tmp)\/|node:|\.rs\b|\.c:/.test(String(text)));
//> value: false
