return ["example.com", "/path", "", "http://", "http://a b/", "http://x:99999/", "http://[::1"].map(u => { try { return new URL(u).href; } catch (error) { return error.name; } });
//> value: ["TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError"]
