console.log("%cstyled%c plain", "color: red", "");
return null;
//> value: null
//> stdout: "styled plain"
