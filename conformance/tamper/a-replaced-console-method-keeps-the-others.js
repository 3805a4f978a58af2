console.log = () => {};
console.log("swallowed");
console.info("written");
return "done";
//> value: "done"
//> stdout: "written"
