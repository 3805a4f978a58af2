return { get a() { throw new RangeError("no"); } };
//> error: thrown RangeError
