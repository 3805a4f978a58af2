const u = new URL("https://x/a");
return [String(u), u.toJSON(), { u }, Object.prototype.toString.call(u)];
//> value: ["https://x/a","https://x/a",{"u":"https://x/a"},"[object URL]"]
