try { new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([0xff])); } catch (error) { return [error.name, error instanceof TypeError]; }
//> value: ["TypeError",true]
