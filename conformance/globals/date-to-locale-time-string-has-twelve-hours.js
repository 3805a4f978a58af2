const d = new Date(Date.UTC(2024, 0, 2, 15, 4, 5));
return [d.toLocaleTimeString(), d.toLocaleTimeString("en-US", { hour: "2-digit", minute: "2-digit" }), d.toLocaleTimeString("en-US", { hour12: false }), new Date(0).toLocaleTimeString()];
//> value: ["3:04:05 PM","03:04 PM","15:04:05","12:00:00 AM"]
