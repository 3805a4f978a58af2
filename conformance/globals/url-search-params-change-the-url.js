const u = new URL("https://x/?a=1");
u.searchParams.append("b", "2 & 3");
u.searchParams.set("a", "ü");
return [u.search, u.href];
//> value: ["?a=%C3%BC&b=2+%26+3","https://x/?a=%C3%BC&b=2+%26+3"]
