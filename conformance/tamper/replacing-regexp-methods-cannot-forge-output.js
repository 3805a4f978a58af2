RegExp.prototype.exec = () => null;
RegExp.prototype.test = () => true;
RegExp.prototype[Symbol.replace] = () => "forged";
RegExp.prototype[Symbol.match] = RegExp.prototype[Symbol.split] = () => ["forged"];
console.log("%s", "real", { plain: 1, "not plain": "x\ny" });
return "real";
//> value: "real"
//> stdout: "real { plain: 1, 'not plain': 'x\\ny' }"
