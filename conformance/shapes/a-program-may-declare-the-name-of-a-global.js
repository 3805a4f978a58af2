//! args = { city = "Oslo" }
const city = "Rome", tools = 1, console = 2, URL = 3;
return [city, tools, console, URL];
//> value: ["Rome",1,2,3]
