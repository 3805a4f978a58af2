const bytes = new Uint8Array([0xef, 0xbb, 0xbf, 0x61]);
return [new TextDecoder().decode(bytes).length, new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes).length];
//> value: [1,2]
