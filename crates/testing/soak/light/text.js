const all = [];
for (let i = 0; i < 500; i++) all.push(`${i}`.padStart(5));
return all.join("").length;
//> value: 2500
