console.log(/a\/b/gi, [/x/], Symbol(), Symbol.iterator, [Symbol("in")]);
return null;
//> value: null
//> stdout: "/a\\/b/gi [ /x/ ] Symbol() Symbol(Symbol.iterator) [ Symbol(in) ]"
