const f = new FormData();
f.append("doc", new Blob(["x"], { type: "t/x" }), "doc.txt");
const file = f.get("doc");
return [file.name, file.type, file.size, await file.text()];
//> value: ["doc.txt","t/x",1,"x"]
