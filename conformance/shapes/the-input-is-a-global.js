//! input = { list = [1, 2], nested = { ok = true, text = "é" } }
return [input, globalThis.input === input];
//> value: [{"list":[1,2],"nested":{"ok":true,"text":"é"}},true]
