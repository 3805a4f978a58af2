const big = 2n ** 100n;
return [String(big), String(-7n / 2n), String(-7n % 3n), 10n > 9, 2n == 2, typeof big, String(BigInt.asUintN(8, 257n)), String(BigInt("0xff"))];
//> value: ["1267650600228229401496703205376","-3","-1",true,true,"bigint","1","255"]
