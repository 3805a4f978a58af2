function plain() { const x = await Promise.resolve(1); return x; }
return plain();
//> error: syntax
