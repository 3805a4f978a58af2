return "ran";
//> value: "ran"
