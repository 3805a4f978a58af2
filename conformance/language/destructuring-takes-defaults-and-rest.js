const { a, b: { c = 5, ...others } = {}, ...rest } = { a: 1, b: { d: 2, e: 3 }, f: 4 };
const [x, , y = 9, ...zs] = [1, 2, undefined, 4, 5];
return { a, c, others, rest, x, y, zs };
//> value: {"a":1,"c":5,"others":{"d":2,"e":3},"rest":{"f":4},"x":1,"y":9,"zs":[4,5]}
