class Point {
  #secret = 3;
  x = 1;
  get y() { return 2; }
}
return new Point();
//> value: {"x":1}
