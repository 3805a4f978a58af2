try { await Promise.resolve(1).finally(() => { throw new Error("f"); }); } catch (error) { return error.message; }
//> value: "f"
