for (let i = 0; i < 100; i++) Promise.reject(i);
return "fine";
//> value: "fine"
