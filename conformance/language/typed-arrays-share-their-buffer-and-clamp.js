const buffer = new ArrayBuffer(8);
const bytes = new Uint8Array(buffer), view = new DataView(buffer);
view.setUint32(0, 0xdeadbeef);
view.setFloat32(4, 1.5, true);
return [[...bytes], [...new Uint8ClampedArray([300, -5, 1.5])], new Int8Array([200])[0], bytes.subarray(1, 3).byteOffset];
//> value: [[222,173,190,239,0,0,192,63],[255,0,2],-56,1]
