// TanStack's driver for Node: isolated-vm behind the interface of Code Mode. A context for each run, as Code Mode does it.
import { createNodeIsolateDriver } from "@tanstack/ai-isolate-node";
import { LIMITS, serve } from "./harness.mjs";

const driver = createNodeIsolateDriver({ timeout: LIMITS.timeMs, memoryLimit: LIMITS.memoryMib, skipProbe: true });
const echo = { name: "echo", description: "", inputSchema: { type: "object" }, execute: async (argument) => argument };

async function run(body, bindings) {
  const context = await driver.createContext({ bindings });
  try {
    const result = await context.execute(body);
    if (!result.success) throw new Error(JSON.stringify(result.error));
    return JSON.stringify(result.value);
  } finally {
    await context.dispose();
  }
}

await serve({
  fresh: (body) => run(body, {}),
  calls: (body) => run(`const tools = { echo };\n${body}`, { echo }),
  idle: () => {
    throw new Error("not measured");
  },
});
