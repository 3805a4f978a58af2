try { new TextDecoder("no-such-encoding"); } catch (error) { return error.name; }
//> value: "RangeError"
