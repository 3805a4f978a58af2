try { await { get then() { throw new RangeError("getter"); } }; } catch (error) { return error.name; }
//> value: "RangeError"
