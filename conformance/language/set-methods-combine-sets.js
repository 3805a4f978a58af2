const a = new Set([1, 2, 3]), b = new Set([2, 3, 4]);
return [[...a.union(b)], [...a.intersection(b)], [...a.difference(b)], [...a.symmetricDifference(b)], a.isSubsetOf(b), a.isDisjointFrom(new Set([9]))];
//> value: [[1,2,3,4],[2,3],[1],[1,4],false,true]
