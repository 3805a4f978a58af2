//! tools = ["echo"]
const real = tools.echo;
try { tools.echo = () => "forged"; } catch {}
try { globalThis.external_echo = () => "forged"; } catch {}
return real("real");
//> value: "real"
