const d = new Date(Date.UTC(2024, 4, 6, 7, 8, 9));
return [d.toUTCString(), d.toDateString(), d.toJSON(), d.toString().slice(0, 33)];
//> value: ["Mon, 06 May 2024 07:08:09 GMT","Mon May 06 2024","2024-05-06T07:08:09.000Z","Mon May 06 2024 07:08:09 GMT+0000"]
