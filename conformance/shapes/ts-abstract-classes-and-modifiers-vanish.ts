abstract class Shape {
  protected abstract readonly sides: number;
  abstract area(): number;
  public describe(): string { return `${this.sides} sides, ${this.area()}`; }
}
interface Named { name: string }
class Square extends Shape implements Named {
  protected override readonly sides = 4;
  declare private ghost: string;
  static readonly kind = "square";
  name!: string;
  constructor(private size: number) { super(); }
  override area(): number { return this.size ** 2; }
}
return [new Square(3).describe(), Square.kind];
//> value: ["4 sides, 9","square"]
