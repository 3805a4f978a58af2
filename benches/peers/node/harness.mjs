// What the peers on Node share: reading the job, timing, and one line of JSON for each measurement.
import { readFileSync } from "node:fs";

const MEMORY_BYTES = 128 << 20;
const STACK_BYTES = 512 << 10;
const TIME_MS = 600_000;
export const LIMITS = { memoryBytes: MEMORY_BYTES, memoryMib: MEMORY_BYTES >> 20, stackBytes: STACK_BYTES, timeMs: TIME_MS };

/** The body of a function that is not async, evaluated to its result as JSON. */
export const plain = (body) => `JSON.stringify((function () {\n${body}\n})())`;
/** The body of an async function, evaluated to a promise of its result as JSON. */
export const promised = (body) => `(async function () {\n${body}\n})().then(JSON.stringify)`;
/** Tools for the guest: values cross as JSON text through `host(text)`, which gives a promise of text. */
export const TOOLS = `
const __call = async (argument) => JSON.parse(await host(JSON.stringify(argument)));
const tools = { echo: __call, first: __call, second: __call };`;

/** Processor time of all threads, and wall time, in microseconds. */
function now() {
  const { user, system } = process.cpuUsage();
  return { cpu: user + system, wall: performance.now() * 1e3 };
}

const between = (a, b, count) => ({ cpu_us: (b.cpu - a.cpu) / count, wall_us: (b.wall - a.wall) / count });
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const middle = (all) => ({ cpu_us: median(all.map((t) => t.cpu_us)), wall_us: median(all.map((t) => t.wall_us)) });
const breathe = () => new Promise((resolve) => setImmediate(resolve));

/** Batches of `once`, each long enough for the clock, for `ms` milliseconds after a fifth of that to warm up. */
async function batches(ms, each, once) {
  let count = 1;
  const batch = async () => {
    const begun = now();
    for (let i = 0; i < count; i++) await once();
    // What the engine puts off until the loop turns is part of the work.
    await breathe();
    return between(begun, now(), count);
  };
  const warm = performance.now();
  while (performance.now() - warm < ms / 5) {
    const { wall_us } = await batch();
    if (wall_us * count < 10_000) count *= 2;
  }
  const all = [];
  const begun = performance.now();
  while (performance.now() - begun < ms || all.length < 5) all.push(await batch());
  const { cpu_us, wall_us } = middle(all);
  return { cpu_us: cpu_us / each, wall_us: wall_us / each };
}

function memory() {
  globalThis.gc?.();
  const field = (file, name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(readFileSync(file, "utf8"))?.[1] ?? 0);
  const rollup = "/proc/self/smaps_rollup";
  return {
    private_kib: field(rollup, "Private_Dirty"),
    share_kib: field(rollup, "Pss"),
    resident_kib: field(rollup, "Rss"),
    tables_kib: field("/proc/self/status", "VmPTE"),
  };
}

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

function expect(found, wanted) {
  if (found !== wanted) throw new Error(`expected ${wanted}, found ${found}`);
}

/**
 * Does the job that the first argument describes.
 * `fresh(body)` runs a plain body in a new isolate, gives its JSON and throws the isolate away;
 * `calls(body)` the same for an async body with tools; `idle(body)` starts an async body and keeps it waiting, with
 * everything that a later answer would need.
 */
export async function serve({ fresh, calls, idle }) {
  const job = JSON.parse(process.argv[2]);
  switch (job.task) {
    case "fresh":
      say({ id: "fresh", ...(await batches(job.ms, 1, async () => expect(await fresh(job.source), "2"))) });
      break;
    case "calls":
      for (const { id, source, count } of job.programs) {
        say({ id, ...(await batches(job.ms, count, async () => expect(await calls(source), '"done"'))) });
      }
      break;
    case "kernels":
      for (const { id, source } of job.programs) {
        const begun = now();
        const check = await fresh(source);
        say({ id, ...between(begun, now(), 1), check });
      }
      break;
    case "memory": {
      await idle(job.source);
      await breathe();
      const before = memory();
      for (let i = 0; i < job.count; i++) await idle(job.source);
      await breathe();
      const after = memory();
      const each = Object.keys(after).map((key) => [key, (after[key] - before[key]) / job.count]);
      say({ id: "memory", ...Object.fromEntries(each) });
      // What still waits must not keep the process, and taking it down is not measured.
      process.exit(0);
      break;
    }
    case "hello":
      console.log(JSON.parse(await fresh(job.source)));
      break;
    default:
      throw new Error(`no such task: ${job.task}`);
  }
}
