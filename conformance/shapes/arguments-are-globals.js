//! args = { city = "Oslo", days = 3, flags = { deep = [true] } }
return [city, days + 1, flags.deep];
//> value: ["Oslo",4,[true]]
