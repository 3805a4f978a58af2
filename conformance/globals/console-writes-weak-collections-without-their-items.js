console.log(new WeakMap(), new WeakSet());
return null;
//> value: null
//> stdout: "WeakMap { <items unknown> } WeakSet { <items unknown> }"
