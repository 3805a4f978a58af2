const f = new File(["abc"], "notes.txt", { type: "text/plain", lastModified: 5 });
return [f.name, f.size, f.type, f.lastModified, f instanceof Blob, await f.text()];
//> value: ["notes.txt",3,"text/plain",5,true,"abc"]
