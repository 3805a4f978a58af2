const buffer = new ArrayBuffer(256, { maxByteLength: 2560 });
const bytes = new Uint8Array(buffer);
for (let i = 0; i < 256; i++) bytes[i] = 255 - i;
bytes.sort((a, b) => { buffer.resize(10); return a - b; });
return buffer.byteLength;
//> value: 10
