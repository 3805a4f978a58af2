return { "größe": "日本語 🎉 é" };
//> value: {"größe":"日本語 🎉 é"}
