// A new buffer is all zeros, whatever was in the one whose place it has.
let nonZero = 0;
for (let i = 0; i < 900; i++) {
  const size = 100_000 + (i % 3) * 100_000;
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += 9_973) nonZero += bytes[at];
  nonZero += bytes[size - 1];
  bytes.fill(255);
}
return nonZero;
//> value: 0
