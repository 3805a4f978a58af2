return 1; })(); globalThis.broke = 1; (async () => { return 2;
//> error: syntax
