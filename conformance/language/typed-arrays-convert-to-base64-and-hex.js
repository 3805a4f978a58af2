const bytes = Uint8Array.fromBase64("aGk=");
return [[...bytes], bytes.toHex(), new Uint8Array([255]).toBase64({ alphabet: "base64url" })];
//> value: [[104,105],"6869","_w=="]
