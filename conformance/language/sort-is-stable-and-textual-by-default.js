const rows = Array.from({ length: 50 }, (_, i) => ({ key: i % 3, i }));
const sorted = rows.sort((x, y) => x.key - y.key);
return [[10, 9, 1].sort(), sorted.slice(0, 4).map(r => r.i), [3, undefined, 1].sort()];
//> value: [[1,10,9],[0,3,6,9],[1,3,null]]
