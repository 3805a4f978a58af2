const d = new TextDecoder();
return [d.decode(new Uint8Array([0xe2, 0x82]), { stream: true }), d.decode(new Uint8Array([0xac, 0x21]), { stream: true }), d.decode()];
//> value: ["","€!",""]
