//! time = 1700000000123
return [Date.now(), new Date().toISOString(), new Date().getTime()];
//> value: [1700000000123,"2023-11-14T22:13:20.123Z",1700000000123]
