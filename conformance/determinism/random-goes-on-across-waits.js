//! seed = 9
//! time = 0
const drawn = [];
for (let i = 0; i < 5; i++) {
  drawn.push(Math.random());
  await new Promise(resolve => setTimeout(resolve, 10));
}
console.error(drawn.join());
return [new Set(drawn).size, Date.now()];
//> value: [5,50]
