//! tools = ["echo"]
//! namespaces = ["n.echo"]
//! oracle = false
return [await tools.search("an issue", 3), await tools.search({ query: "x" }), await tools.describe("n.echo"), Object.keys(tools)];
//> value: [{"query":"an issue","limit":3},{"query":"x"},{"path":"n.echo"},["echo","n","search","describe"]]
