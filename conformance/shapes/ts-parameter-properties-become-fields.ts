class Point {
  constructor(public x: number, private readonly y = 2, protected z?: string, plain = 9) {}
  sum() { return this.x + this.y; }
}
const p = new Point(1);
return [p, p.sum(), "plain" in p];
//> value: [{"x":1,"y":2},3,false]
