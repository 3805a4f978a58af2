return new Function(`
  const { proxy, revoke } = Proxy.revocable({}, { has(t, k) { if (k === "a") { revoke(); return true; } return false; } });
  with (proxy) { try { a; return "read"; } catch (error) { return error.name; } }
`)();
//> value: "TypeError"
