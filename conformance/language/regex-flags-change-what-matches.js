const sticky = /a/y;
sticky.lastIndex = 1;
return [sticky.test("ba"), /a.b/s.test("a\nb"), /^.$/u.test("💩"), /^\p{Lu}/u.test("Ä"), /b(?<x>c)/d.exec("abc").indices.groups.x];
//> value: [true,true,true,true,[2,3]]
