const buffer = new ArrayBuffer(8);
const moved = structuredClone(buffer, { transfer: [buffer] });
return [buffer.byteLength, moved.byteLength];
//> value: [0,8]
