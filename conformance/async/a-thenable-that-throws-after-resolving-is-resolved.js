return await { then(resolve) { resolve("ok"); throw new Error("ignored"); } };
//> value: "ok"
