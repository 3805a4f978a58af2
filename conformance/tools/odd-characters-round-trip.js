//! tools = ["echo"]
const text = "\u2028\u2029\ufeff\0\x7f\u0085😀e\u0301\\\"'`${x}";
return (await tools.echo({ [text]: text }))[text] === text;
//> value: true
