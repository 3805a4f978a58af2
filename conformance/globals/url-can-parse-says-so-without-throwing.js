return [URL.canParse("https://x"), URL.canParse("nope"), URL.canParse("nope", "https://x")];
//> value: [true,false,true]
