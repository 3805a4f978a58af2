const enum Flag { A = 1 << 0, B = 1 << 1, Both = A | B }
return [Flag.A, Flag.B, Flag.Both];
//> value: [1,2,3]
