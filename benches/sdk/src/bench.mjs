// Measures all peers in one process and in turns.
//   node --expose-gc --no-node-snapshot bench.mjs FOLDER [--quick] [--only ROW]
import { mkdirSync, writeFileSync } from "node:fs";
import process from "node:process";
import { machine } from "./machine.mjs";
import { measure, median, memory } from "./measure.mjs";
import { openPeers } from "./peers.mjs";
import { picture } from "./picture.mjs";
import { table } from "./report.mjs";
import { memoryWork, ROWS } from "./rows.mjs";
import { failure } from "./survive.mjs";

const [folder] = process.argv.slice(2);
const quick = process.argv.includes("--quick");
const only = process.argv.includes("--only") ? process.argv[process.argv.indexOf("--only") + 1] : undefined;
const rounds = quick ? 3 : 7;
const SETTLE_MS = 300;
const memoryRuns = quick ? 60 : 1000;

const rows = ROWS.filter((row) => only === undefined || row.id === only);
const peers = await openPeers();
const results = rows.map((row) => ({ id: row.id, title: row.title, unit: row.unit, peers: {} }));
for (const [index, row] of rows.entries()) {
  const able = [];
  for (const peer of peers) {
    const failed = failure(peer.name, row.id);
    results[index].peers[peer.name] = failed === undefined ? { wall_us: [], cpu_us: [] } : { failed };
    if (failed === undefined) able.push(peer);
  }
  for (const peer of able) await measure(peer, row, Math.ceil(row.repeat.quick / 2));
  for (let round = 0; round < rounds; round++) {
    // Who comes first, and who comes after whom, changes from round to round.
    const turns = able.map((_, turn) => able[(round + turn) % able.length]);
    for (const peer of round % 2 === 0 ? turns : turns.reverse()) {
      await settle();
      const { wall_us, cpu_us } = await measure(peer, row, quick ? row.repeat.quick : row.repeat.full);
      results[index].peers[peer.name].wall_us.push(wall_us);
      results[index].peers[peer.name].cpu_us.push(cpu_us);
    }
  }
  process.stderr.write(`${row.id}: ${peers.map((peer) => show(results[index].peers[peer.name])).join(" · ")}\n`);
}

const growth = {};
for (const peer of only === undefined ? peers : []) {
  for (let i = 0; i < memoryRuns / 3; i++) await memoryWork(peer.driver);
  const before = memory(peer);
  for (let i = 0; i < memoryRuns; i++) await memoryWork(peer.driver);
  const after = memory(peer);
  growth[peer.name] = { runs: memoryRuns, before, after, grown_kib: after.own_kib + after.others_kib - before.own_kib - before.others_kib };
}

const report = {
  command: `benches/sdk/run${quick ? " --quick" : ""}`,
  machine: machine(),
  rounds,
  packages: Object.fromEntries(peers.map((peer) => [peer.name, peer.packages])),
  rows: results,
  memory: growth,
};
if (only === undefined) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/latest.json`, `${JSON.stringify(report, undefined, 1)}\n`);
  writeFileSync(`${folder}/sdk.svg`, picture(report));
  writeFileSync(`${folder}/table.md`, table(report));
}
process.stdout.write(table(report));
for (const peer of peers) await peer.close();
process.exit(0);

/** What the peer before left behind, such as compilations in the background, is not the next one's. */
async function settle() {
  globalThis.gc?.();
  await new Promise((done) => setTimeout(done, SETTLE_MS));
}

function show(result) {
  return result.failed ?? `${Math.round(median(result.wall_us))} µs (CPU ${Math.round(median(result.cpu_us))})`;
}
