(function () { console.log(arguments); })(1, "two");
return null;
//> value: null
//> stdout: "[Arguments] { '0': 1, '1': 'two' }"
