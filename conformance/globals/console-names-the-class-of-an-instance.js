class Point { x = 1; #hidden = 2; get y() { return 2; } }
class Empty {}
console.log(new Point(), new Empty(), [new Point()]);
return null;
//> value: null
//> stdout: "Point { x: 1 } Empty {} [ Point { x: 1 } ]"
