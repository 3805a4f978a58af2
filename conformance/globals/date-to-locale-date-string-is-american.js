const d = new Date(Date.UTC(2024, 0, 2, 15, 4, 5));
return [d.toLocaleDateString(), d.toLocaleDateString("en-US"), new Intl.DateTimeFormat("en-US").format(d)];
//> value: ["1/2/2024","1/2/2024","1/2/2024"]
