// Writes the blocks of the documentation to files, so that they are type-checked and run like the rest.
//   node tests/documents.mjs DOCUMENT... FOLDER
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import process from "node:process";

const documents = process.argv.slice(2, -1);
const folder = process.argv.at(-1);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const document of documents) {
  const blocks = [...readFileSync(document, "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gm)];
  for (const [index, [, code]] of blocks.entries()) {
    writeFileSync(`${folder}/${basename(document, ".md").toLowerCase()}-${index + 1}.ts`, code);
  }
}
