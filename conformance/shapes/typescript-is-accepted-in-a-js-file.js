const double = (n: number): number => n * 2;
type Pair = [number, string];
const pair: Pair = [double(2), "x"];
return pair;
//> value: [4,"x"]
