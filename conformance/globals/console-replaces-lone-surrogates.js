console.log("a\ud800b", "😀");
return null;
//> value: null
//> stdout: "a�b 😀"
