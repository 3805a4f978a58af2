const enc = new TextEncoder();
const key = await crypto.subtle.importKey("raw", enc.encode("key"), { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
const data = enc.encode("The quick brown fox jumps over the lazy dog");
const mac = await crypto.subtle.sign("HMAC", key, data);
const hex = [...new Uint8Array(mac)].map(b => b.toString(16).padStart(2, "0")).join("");
const good = await crypto.subtle.verify("HMAC", key, mac, data);
const bad = await crypto.subtle.verify("HMAC", key, mac, enc.encode("other"));
return [hex, good, bad];
//> value: ["f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8",true,false]
