const h = new Headers();
h.append("Set-Cookie", "a=1");
h.append("Set-Cookie", "b=2");
return [h.getSetCookie(), [...h]];
//> value: [["a=1","b=2"],[["set-cookie","a=1"],["set-cookie","b=2"]]]
