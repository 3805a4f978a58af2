const d = new Date(Date.UTC(2024, 0, 2, 15, 4, 5));
return [d.toLocaleString(), d.toLocaleString("en-US", { timeZone: "UTC" })];
//> value: ["1/2/2024, 3:04:05 PM","1/2/2024, 3:04:05 PM"]
