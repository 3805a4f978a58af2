const o = { a: { f: () => "called" }, zero: 0 };
o.zero ??= 1; o.missing ??= 2; o.zero ||= 3; o.a &&= o.a;
return [o?.a?.f?.(), o.b?.c.d.e, o.b?.[0]?.(), o.zero, o.missing, delete o?.a];
//> value: ["called",null,null,3,2,true]
