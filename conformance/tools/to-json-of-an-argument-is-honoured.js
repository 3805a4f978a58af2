//! tools = ["echo"]
return tools.echo({ price: { toJSON: key => `json of ${key}` } });
//> value: {"price":"json of price"}
