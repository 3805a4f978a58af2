console.log(new Uint8Array([1, 2, 3]), new Float64Array(2), new BigInt64Array(1));
return null;
//> value: null
//> stdout: "Uint8Array(3) [ 1, 2, 3 ] Float64Array(2) [ 0, 0 ] BigInt64Array(1) [ 0n ]"
