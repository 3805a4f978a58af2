return [new Date(NaN).toLocaleString(), new Date(NaN).toLocaleDateString(), String(new Date(NaN))];
//> value: ["Invalid Date","Invalid Date","Invalid Date"]
