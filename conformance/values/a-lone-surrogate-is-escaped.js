return ["\ud800", "x\udfff", { "\ud83d": "\ud83d\ude00" }];
//> value: ["\ud800","x\udfff",{"\ud83d":"😀"}]
