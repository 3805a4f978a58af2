// Typed arrays: the primes below 400,000, and a running sum over floats.
const size = 400000;
const composite = new Uint8Array(size);
for (let i = 2; i * i < size; i++) {
  if (composite[i]) continue;
  for (let j = i * i; j < size; j += i) composite[j] = 1;
}
let count = 0;
let last = 0;
for (let i = 2; i < size; i++) {
  if (!composite[i]) {
    count++;
    last = i;
  }
}
const sums = new Float64Array(100000);
for (let i = 1; i < sums.length; i++) sums[i] = sums[i - 1] + i * 0.5;
return [count, last, sums[sums.length - 1]];
