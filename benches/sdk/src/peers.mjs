// The drivers that are compared, with the same limits.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import process from "node:process";

export const LIMITS = { timeout: 30_000, memoryLimit: 128 };
const require = createRequire(import.meta.url);

/** Each peer: its name, how it is made, and the processes that work for it besides this one. */
export async function openPeers(names) {
  const all = { isolith, "isolated-vm": isolatedVm, "quickjs-emscripten": quickJs };
  const peers = [];
  for (const name of names ?? Object.keys(all)) peers.push({ name, ...(await all[name]()) });
  return peers;
}

async function isolith() {
  const sdk = new URL("./sdk/dist/", import.meta.url);
  const { Isolith } = await import(new URL("index.js", sdk));
  const { createIsolithDriver } = await import(new URL("tanstack.js", sdk));
  const client = new Isolith();
  await client.run("return 1");
  const version = JSON.parse(readFileSync(new URL("./sdk/package.json", import.meta.url), "utf8")).version;
  const packages = `isolith ${version}`;
  return { packages, driver: createIsolithDriver({ client, ...LIMITS }), others: [daemon()], close: () => client.close() };
}

async function isolatedVm() {
  const { createNodeIsolateDriver } = await import("@tanstack/ai-isolate-node");
  const packages = `@tanstack/ai-isolate-node ${version("@tanstack/ai-isolate-node")}, isolated-vm ${version("isolated-vm")}`;
  return { packages, driver: createNodeIsolateDriver({ ...LIMITS, skipProbe: true }), others: [], close: async () => {} };
}

async function quickJs() {
  const { createQuickJSIsolateDriver } = await import("@tanstack/ai-isolate-quickjs");
  const packages = `@tanstack/ai-isolate-quickjs ${version("@tanstack/ai-isolate-quickjs")}, quickjs-emscripten ${version("quickjs-emscripten")}`;
  return { packages, driver: createQuickJSIsolateDriver(LIMITS), others: [], close: async () => {} };
}

/** The daemon is the one child of this process. */
function daemon() {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim().split(" ");
  if (children.length !== 1) throw new Error(`one child was expected, not ${children.length}`);
  return Number(children[0]);
}

function version(name) {
  // Packages that do not export their package.json are found by the folder they are in.
  const [folder] = require.resolve.paths(name);
  return JSON.parse(readFileSync(`${folder}/${name}/package.json`, "utf8")).version;
}
