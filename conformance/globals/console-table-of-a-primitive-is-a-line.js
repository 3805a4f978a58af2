console.table("just text");
console.table(5);
return null;
//> value: null
//> stdout: "just text"
//> stdout: "5"
