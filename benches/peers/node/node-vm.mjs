// node:vm, which comes with Node. It separates globals and is no security boundary, as its documentation says.
// No time limit on evaluation: it would start a thread for each, and twice the time.
import vm from "node:vm";
import { TOOLS, plain, promised, serve } from "./harness.mjs";

const kept = [];

function contextWith(host) {
  const context = vm.createContext({ host });
  vm.runInContext(TOOLS, context);
  return context;
}

await serve({
  fresh: (body) => vm.runInContext(plain(body), vm.createContext({})),
  calls: (body) => vm.runInContext(promised(body), contextWith(async (text) => text)),
  idle(body) {
    const context = contextWith(() => new Promise((resolve) => kept.push(resolve)));
    kept.push(context, vm.runInContext(promised(body), context));
  },
});
