await Promise.resolve("awaited");
//> value: "awaited"
