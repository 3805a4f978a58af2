return 7 // trailing
//> value: 7
