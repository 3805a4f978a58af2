(() => { return 7; })()
//> value: 7
