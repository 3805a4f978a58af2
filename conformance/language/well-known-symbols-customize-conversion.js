const money = { [Symbol.toPrimitive]: hint => hint === "number" ? 5 : `five (${hint})`, get [Symbol.toStringTag]() { return "Money"; } };
class Even { static [Symbol.hasInstance](n) { return n % 2 === 0; } }
return [+money, `${money}`, money + "", Object.prototype.toString.call(money), 4 instanceof Even];
//> value: [5,"five (string)","five (default)","[object Money]",true]
