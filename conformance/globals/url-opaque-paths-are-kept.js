return ["mailto:a@b.c", "data:text/plain,hi there", "javascript:alert(1)", "blob:https://x/1"].map(u => { const p = new URL(u); return [p.pathname, p.origin, p.host]; });
//> value: [["a@b.c","null",""],["text/plain,hi there","null",""],["alert(1)","null",""],["https://x/1","https://x",""]]
