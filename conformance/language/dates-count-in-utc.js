const d = new Date(2024, 0, 31, 12);
d.setMonth(1);
return [d.toISOString(), Date.UTC(1970, 0, 2), new Date("2024-03-10").getDay(), new Date(0).getTimezoneOffset()];
//> value: ["2024-03-02T12:00:00.000Z",86400000,0,0]
