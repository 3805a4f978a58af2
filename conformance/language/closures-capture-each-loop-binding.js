const fs = [], gs = [];
for (let i = 0; i < 3; i++) fs.push(() => i);
for (var k = 0; k < 3; k++) gs.push(() => k);
return [fs.map(f => f()), gs.map(g => g())];
//> value: [[0,1,2],[3,3,3]]
