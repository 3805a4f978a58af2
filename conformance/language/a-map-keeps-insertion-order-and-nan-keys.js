const m = new Map([[NaN, 1], [0, 2]]);
m.set(-0, 3).set("a", 4);
m.delete(NaN);
m.set(NaN, 5);
return [[...m.keys()].map(String), m.get(0), m.size];
//> value: [["0","a","NaN"],3,3]
