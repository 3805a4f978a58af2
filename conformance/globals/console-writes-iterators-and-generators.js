function* g() {}
console.log(g(), [1, 2][Symbol.iterator]());
return null;
//> value: null
//> stdout: "Object [Generator] {} Object [Array Iterator] {}"
