throw { toString() { throw 1; }, [Symbol.toPrimitive]() { throw 2; } };
//> error: thrown
