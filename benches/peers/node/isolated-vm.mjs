// isolated-vm: one V8 isolate for each run, with a memory and a time limit. What needs no waiting runs on the calling
// thread, which is its cheapest way; tools are references to async functions, as its documentation shows them.
import ivm from "isolated-vm";
import { LIMITS, TOOLS, plain, promised, serve } from "./harness.mjs";

const HOST = "const host = (text) => __host.apply(undefined, [text], { result: { promise: true, copy: true } });";
const kept = [];

async function isolateWith(host) {
  const isolate = new ivm.Isolate({ memoryLimit: LIMITS.memoryMib });
  const context = await isolate.createContext();
  await context.global.set("__host", new ivm.Reference(host));
  await context.eval(HOST + TOOLS);
  return { isolate, context };
}

await serve({
  fresh(body) {
    const isolate = new ivm.Isolate({ memoryLimit: LIMITS.memoryMib });
    const result = isolate.createContextSync().evalSync(plain(body), { timeout: LIMITS.timeMs });
    isolate.dispose();
    return result;
  },
  async calls(body) {
    const { isolate, context } = await isolateWith(async (text) => text);
    const result = await context.eval(promised(body), { promise: true, copy: true, timeout: LIMITS.timeMs });
    isolate.dispose();
    return result;
  },
  async idle(body) {
    let asked;
    const waits = new Promise((resolve) => (asked = resolve));
    const { isolate, context } = await isolateWith(() => {
      asked();
      return new Promise((resolve) => kept.push(resolve));
    });
    kept.push(isolate, context, context.eval(promised(body), { promise: true, copy: true }));
    await waits;
  },
});
