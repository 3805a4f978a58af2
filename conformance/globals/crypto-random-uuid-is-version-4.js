const ids = Array.from({ length: 20 }, () => crypto.randomUUID());
return [ids.every(id => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)), new Set(ids).size];
//> value: [true,20]
