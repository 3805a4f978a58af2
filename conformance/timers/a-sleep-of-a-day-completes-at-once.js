//! time = 0
await new Promise(resolve => setTimeout(resolve, 86400000));
return new Date().toISOString();
//> value: "1970-01-02T00:00:00.000Z"
