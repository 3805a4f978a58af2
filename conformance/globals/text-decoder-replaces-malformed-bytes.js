return [[0xff], [0xc3, 0x28], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xf5, 0x80], [0xc0, 0xaf], [0xf0, 0x9f, 0x41]]
  .map(bytes => [...new TextDecoder().decode(new Uint8Array(bytes))].map(c => c.codePointAt(0).toString(16)).join(" "));
//> value: ["fffd","fffd 28","fffd","fffd fffd fffd","fffd fffd","fffd fffd","fffd 41"]
