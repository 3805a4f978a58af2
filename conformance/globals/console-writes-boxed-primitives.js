console.log(Object(1), Object("str"), Object(true), Object(2n), Object(Symbol("s")), Object(-0));
return null;
//> value: null
//> stdout: "[Number: 1] [String: 'str'] [Boolean: true] [BigInt: 2n] [Symbol: Symbol(s)] [Number: -0]"
