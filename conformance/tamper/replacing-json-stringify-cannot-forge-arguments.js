//! tools = ["echo"]
JSON.stringify = () => '"forged"';
return tools.echo({ real: true });
//> value: {"real":true}
