JSON.stringify = () => '"forged"';
return { real: true };
//> value: {"real":true}
