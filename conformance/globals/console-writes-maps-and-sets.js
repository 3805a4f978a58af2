console.log(new Map([["a", 1], [{ k: 1 }, [2]]]), new Set([1, "two", [3]]), { m: new Map([[1, new Set()]]) });
return null;
//> value: null
//> stdout: "Map(2) { 'a' => 1, { k: 1 } => [ 2 ] } Set(3) { 1, 'two', [ 3 ] } { m: Map(1) { 1 => Set(0) {} } }"
