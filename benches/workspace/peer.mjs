// The same work as crates/store/examples/workspace.rs, by @cloudflare/shell's file system in memory. It keeps nothing on disk.
import { InMemoryFs, createMemoryStateBackend } from '@cloudflare/shell';

const FILES = 5000;
const FOLDERS = 50;
const SINGLY = 500;
const name = (n) => `/d${n % FOLDERS}/f${n}.txt`;
const text = (n) => {
  let text = `file ${n}\n`;
  for (let line = 0; line < 20; line++) text += `line ${line} of file ${n}: some words to look through\n`;
  return text;
};

async function measure(what, times, work) {
  const started = process.hrtime.bigint();
  for (let n = 0; n < times; n++) await work(n);
  const us = Number(process.hrtime.bigint() - started) / 1e3 / times;
  console.log(JSON.stringify({ who: 'cloudflare-shell', what, us: Number(us.toFixed(2)) }));
}

const fs = new InMemoryFs();
const state = createMemoryStateBackend({ fs });
await measure('write 5,000', 1, async () => {
  for (let n = 0; n < FOLDERS; n++) await fs.mkdir(`/d${n}`, { recursive: true });
  for (let n = 0; n < FILES; n++) await fs.writeFile(name(n), text(n));
});
await measure('write, on disk', SINGLY, (n) => fs.writeFile(name(n), text(n + 1)));
await measure('read', FILES, async (n) => {
  if ((await fs.readFile(name(n))).length < 900) throw new Error('too short');
});
await measure('edit, on disk', SINGLY, async (n) => {
  const before = await fs.readFile(name(n));
  await fs.writeFile(name(n), before.replace('line 7 of', () => 'LINE 7 of'));
});
await measure('grep 5,000', 10, async () => {
  const found = await state.searchFiles('/**/*.txt', 'file 49[0-9]{2}$', { regex: true });
  let matches = 0;
  for (const file of found) matches += file.matches.length;
  if (matches !== 100) throw new Error(`${matches} matches`);
});
