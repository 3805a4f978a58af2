return [[1, [2, [3, [4]]]].flat(Infinity), [1, 2].flatMap(x => [x, x * 2]), [1, 2, 3, 4].copyWithin(0, 2), Array.of(7), Array.from("ab", c => c + c), [1, 2, 3].includes(NaN), [NaN].includes(NaN), [NaN].indexOf(NaN)];
//> value: [[1,2,3,4],[1,2,2,4],[3,4,3,4],[7],["aa","bb"],false,true,-1]
