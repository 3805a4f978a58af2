const bytes = new TextEncoder().encode("hello world");
return [new TextDecoder().decode(bytes.buffer.slice(0, 5)), new TextDecoder().decode(new DataView(bytes.buffer, bytes.byteOffset + 6, 5)), new TextDecoder("UTF8").encoding];
//> value: ["hello","world","utf-8"]
