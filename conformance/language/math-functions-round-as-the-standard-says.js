return [Math.hypot(3, 4), Math.sign(-3), Math.trunc(-4.7), Math.clz32(1), Math.fround(5.5), Math.max(), Math.round(-0.5), Math.round(2.5), Math.imul(3, 4), Math.log2(8)].map(String);
//> value: ["5","-1","-4","31","5.5","-Infinity","0","3","12","3"]
