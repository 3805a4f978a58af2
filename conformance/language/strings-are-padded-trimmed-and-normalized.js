return ["5".padStart(3, "0"), " x ".trim(), "e\u0301".normalize("NFC").length, "ab".at(-1), "a-b-c".replaceAll("-", "+"), [..."a💩"].length, "ß".toUpperCase(), "İ".toLowerCase().length, "x".codePointAt(0), "a\ud800".isWellFormed()];
//> value: ["005","x",1,"b","a+b+c",2,"SS",2,120,false]
