const bytes = await new Response(new Uint8Array([1, 2, 255])).arrayBuffer();
const blob = await new Response("abc", { headers: { "content-type": "text/x" } }).blob();
return [[...new Uint8Array(bytes)], blob.size, blob.type];
//> value: [[1,2,255],3,"text/x"]
