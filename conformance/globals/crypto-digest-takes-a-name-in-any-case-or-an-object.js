const a = await crypto.subtle.digest("sha-256", new Uint8Array(0));
const b = await crypto.subtle.digest({ name: "SHA-256" }, new ArrayBuffer(0));
return [a instanceof ArrayBuffer, a.byteLength, [...new Uint8Array(a)].join() === [...new Uint8Array(b)].join(), new Uint8Array(a)[0]];
//> value: [true,32,true,227]
