return [/^[\p{L}--[a-z]]$/v.test("a"), /^[\p{L}--[a-z]]$/v.test("é"), /^[\w&&\d]$/v.test("5"), /^\p{RGI_Emoji}$/v.test("👩‍👩‍👧")];
//> value: [false,true,true,true]
