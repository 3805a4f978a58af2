// Run it with: cargo run --release -- run examples/hello.ts
// A program is a function body: it may `await`, and what it returns is its value.

interface Greeting {
  text: string;
  letters: number;
}

function greet(name: string): Greeting {
  const text = `Hello, ${name}!`;
  return { text, letters: name.length };
}

const names: string[] = ["world", "isolith"];
const greetings = names.map(greet);

console.log("No files, no network, no secrets:", typeof fetch, typeof require, typeof process);

return greetings;
