console.log("%s", "a", "b", { c: 1 }, ["d"]);
return null;
//> value: null
//> stdout: "a b { c: 1 } [ 'd' ]"
