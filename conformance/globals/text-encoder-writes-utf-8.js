const bytes = new TextEncoder().encode("aé€😀\ud800");
return [[...bytes], bytes.constructor.name, new TextEncoder().encoding, new TextEncoder().encode().length];
//> value: [[97,195,169,226,130,172,240,159,152,128,239,191,189],"Uint8Array","utf-8",0]
