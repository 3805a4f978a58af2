return [["bad name", "x"], ["", "x"], ["a", "line\nbreak"], ["a", "nul\0"], ["ok", "fine"]].map(pair => { try { new Headers([pair]); return "ok"; } catch (error) { return error.name; } });
//> value: ["TypeError","TypeError","TypeError","TypeError","ok"]
