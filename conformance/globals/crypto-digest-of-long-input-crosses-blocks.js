const hex = buffer => [...new Uint8Array(buffer)].map(b => b.toString(16).padStart(2, "0")).join("");
const out = [];
for (const n of [55, 56, 63, 64, 65, 1000]) out.push(hex(await crypto.subtle.digest("SHA-256", new Uint8Array(n).fill(97))).slice(0, 16));
return out;
//> value: ["9f4390f8d30c2dd9","b35439a4ac6f0948","7d3e74a05d7db15b","ffe054fe7ae0cb6d","635361c48bb9eab1","41edece42d63e8d9"]
