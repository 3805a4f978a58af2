console.log("%s %d %x 100%", "one");
console.log("100% sure", "%s");
console.log(5, "%s", "x");
return null;
//> value: null
//> stdout: "one %d %x 100%"
//> stdout: "100% sure %s"
//> stdout: "5 %s x"
