//! time = 86400000
return Date().slice(0, 33);
//> value: "Fri Jan 02 1970 00:00:00 GMT+0000"
