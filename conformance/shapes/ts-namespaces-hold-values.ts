namespace Geometry {
  export const unit = 2;
  export function area(side: number) { return side * side * unit; }
  const hidden = 1;
}
return [Geometry.area(3), Object.keys(Geometry).sort()];
//> value: [18,["area","unit"]]
