import { askUserQuestion, defineWorkflow, log, sleep, step, waitFor } from "defineworkflow";

// Waits for a signal and for a person, as long as it takes; a restart in between changes nothing.
export default defineWorkflow({
  name: "release",
  description: "Build, wait for the tests, ask, release",
  harness: "claude",
  async run() {
    const build = await step("build", async () => ({ version: "1.2.0" }));
    log(`built ${build.version}`);
    const tests = await waitFor("tests", { timeout: "7d" });
    await sleep("50ms");
    const go = await askUserQuestion({ key: "go", question: `Release ${build.version}?`, choices: ["yes", "no"] });
    return { version: build.version, tests, released: go === "yes" };
  },
});
