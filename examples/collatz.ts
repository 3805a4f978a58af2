// The start below a million with the longest way down to 1 (halve what is even, else three times and one more), by a module of
// WebAssembly: `isolith run examples/collatz.ts --engine v8 --grant builtin:WebAssembly`
//
//   (func (export "longest") (param $below i32) (result i32) …), as any compiler for WebAssembly would give it
const code = "AGFzbQEAAAABBgFgAX8BfwMCAQAHCwEHbG9uZ2VzdAAACmQBYgMBfwF+A39BASEBA0AgAa0hAkEAIQMDQCACQgGDUAR+IAJCAYgFIAJCA35CAXwLIQIg"
  + "A0EBaiEDIAJCAVINAAsgAyAESwRAIAMhBCABIQULIAFBAWohASABIABJDQALIAUL";

const { instance } = await WebAssembly.instantiate(Uint8Array.from(atob(code), (c) => c.charCodeAt(0)));
const longest = instance.exports.longest as (below: number) => number;
return longest(1_000_000);
