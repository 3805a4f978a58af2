// quickjs-emscripten: its default build, one WebAssembly module for the process, and in it one runtime and context for
// each run, with memory, stack and time limits. A module for each run would isolate better and cost more.
import { getQuickJS, shouldInterruptAfterDeadline } from "quickjs-emscripten";
import { LIMITS, TOOLS, plain, promised, serve } from "./harness.mjs";

const quickjs = await getQuickJS();
const kept = [];

function newContext() {
  const runtime = quickjs.newRuntime();
  runtime.setMemoryLimit(LIMITS.memoryBytes);
  runtime.setMaxStackSize(LIMITS.stackBytes);
  runtime.setInterruptHandler(shouldInterruptAfterDeadline(Date.now() + LIMITS.timeMs));
  return { runtime, context: runtime.newContext() };
}

function contextWith(answer) {
  const { runtime, context } = newContext();
  const host = context.newFunction("host", (text) => {
    const promise = context.newPromise();
    answer(context.getString(text)).then((reply) => {
      context.newString(reply).consume((value) => promise.resolve(value));
      promise.dispose();
      runtime.executePendingJobs();
    });
    return promise.handle;
  });
  context.setProp(context.global, "host", host);
  host.dispose();
  context.unwrapResult(context.evalCode(TOOLS)).dispose();
  return { runtime, context };
}

await serve({
  fresh(body) {
    const { runtime, context } = newContext();
    const result = context.unwrapResult(context.evalCode(plain(body))).consume((value) => context.getString(value));
    context.dispose();
    runtime.dispose();
    return result;
  },
  async calls(body) {
    const { runtime, context } = contextWith(async (text) => text);
    const promise = context.unwrapResult(context.evalCode(promised(body)));
    const settled = context.resolvePromise(promise);
    runtime.executePendingJobs();
    const result = context.unwrapResult(await settled).consume((value) => context.getString(value));
    promise.dispose();
    context.dispose();
    runtime.dispose();
    return result;
  },
  idle(body) {
    const { runtime, context } = contextWith(() => new Promise(() => {}));
    kept.push(runtime, context, context.unwrapResult(context.evalCode(promised(body))));
    runtime.executePendingJobs();
  },
});
