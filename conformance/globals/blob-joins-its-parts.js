const b = new Blob(["a", new Uint8Array([98]), new Blob(["c"])], { type: "Text/Plain" });
return [b.size, b.type, await b.text(), [...new Uint8Array(await b.arrayBuffer())]];
//> value: [3,"text/plain","abc",[97,98,99]]
