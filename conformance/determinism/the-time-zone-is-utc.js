//! time = 0
const d = new Date(2024, 6, 1, 12, 30);
return [d.toISOString(), d.getTimezoneOffset(), new Date(0).getHours(), new Date("2024-07-01T00:00").getTime() === Date.UTC(2024, 6, 1)];
//> value: ["2024-07-01T12:30:00.000Z",0,0,true]
