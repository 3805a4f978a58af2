//! time = 0
//! limits = { calls = 0 }
for (let i = 0; i < 5; i++) {
  console.log(i);
  await new Promise(resolve => setTimeout(resolve, 10));
}
return Date.now();
//> value: 50
