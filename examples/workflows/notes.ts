// Keeps a note from one run to the next. It needs a key space, and says so when it is read.
import { defineWorkflow } from "defineworkflow";

export default defineWorkflow({
  name: "notes",
  description: "Counts how often it was run",
  harness: "claude",
  async run() {
    const before = (await kv.get("runs")) ?? 0;
    await kv.put("runs", before + 1);
    return before + 1;
  },
});
