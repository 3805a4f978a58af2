//! tools = ["echo"]
JSON.parse = () => "forged";
return tools.echo({ real: true });
//> value: {"real":true}
