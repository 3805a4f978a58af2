// Hands work to another program, which runs with grants of its own.
const article = [
  "A sandbox is only as good as its list of exceptions.",
  "So keep the list short, and know what is on it.",
].join("\n");

const summary: { sentences: number; first: string } = await invoke("summarise", { article });
return `${summary.sentences} sentences, beginning with "${summary.first}"`;
