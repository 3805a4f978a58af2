const b = new Blob(["hello world"]);
return [await b.slice(0, 5).text(), await b.slice(-5).text(), await b.slice(6, 8, "x/y").text(), b.slice(6, 8, "x/y").type, b.slice(20).size];
//> value: ["hello","world","wo","x/y",0]
