try { await { then() { throw new RangeError("t"); } }; } catch (error) { return error.name; }
//> value: "RangeError"
