const a = [3, 1, 2];
return [a.toSorted(), a.toReversed(), a.with(0, 9), a.toSpliced(1, 1), a.findLast(x => x > 1), a.at(-1), a];
//> value: [[1,2,3],[2,1,3],[9,1,2],[3,2],2,2,[3,1,2]]
