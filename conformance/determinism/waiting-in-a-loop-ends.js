//! time = 1000
//! oracle = false
// In Node this takes 50 ms; here the clock moves a millisecond for every ten thousand looks, whatever the machine.
const start = Date.now();
while (Date.now() - start < 50);
return Date.now() - start;
//> value: 50
