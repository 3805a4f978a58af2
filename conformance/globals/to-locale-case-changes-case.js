return ["Straße".toLocaleUpperCase(), "ÀÉ".toLocaleLowerCase()];
//> value: ["STRASSE","àé"]
