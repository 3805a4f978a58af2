async function* pieces() { yield new Uint8Array([104]); yield new Uint8Array([105]); }
return await new Response(pieces()).text();
//> value: "hi"
