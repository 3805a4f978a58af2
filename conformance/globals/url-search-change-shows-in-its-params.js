const u = new URL("https://x/?a=1");
const params = u.searchParams;
u.search = "?b=2";
return [params.get("a"), params.get("b"), params === u.searchParams];
//> value: [null,"2",true]
