enum E { A = "abc".length, B = A + 1 }
return [E.A, E.B, E[3]];
//> value: [3,4,"A"]
