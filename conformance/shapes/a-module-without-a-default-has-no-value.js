export const a = 1;
console.log("ran");
//> value: undefined
//> stdout: "ran"
