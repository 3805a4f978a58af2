const people = [{ n: "a", age: 1 }, { n: "b", age: 2 }, { n: "c", age: 1 }];
const byAge = Object.groupBy(people, p => p.age);
const map = Map.groupBy(people, p => p.age > 1);
return [Object.keys(byAge), byAge[1].map(p => p.n), map.get(true).length];
//> value: [["1","2"],["a","c"],1]
