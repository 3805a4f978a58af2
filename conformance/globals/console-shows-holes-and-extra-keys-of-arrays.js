const a = [1, , , 4, undefined];
a.extra = "e";
a[-1] = "minus";
console.log(a, [, ], new Array(3));
return null;
//> value: null
//> stdout: "[ 1, <2 empty items>, 4, undefined, extra: 'e', '-1': 'minus' ] [ <1 empty item> ] [ <3 empty items> ]"
