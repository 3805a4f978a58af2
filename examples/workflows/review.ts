import { agent, defineWorkflow, parallel, phase, z } from "defineworkflow";

// Several reviewers look at a change at the same time, and one agent weighs what they found.
const Finding = z.object({ severity: z.enum(["low", "high"]), text: z.string() });

export default defineWorkflow({
  name: "review",
  description: "Review a change from several sides, and weigh the findings",
  harness: "claude",
  phases: [{ title: "Look" }, { title: "Weigh" }],
  async run({ args }) {
    const sides = args?.sides ?? ["correctness", "security"];
    phase("Look");
    const found = await parallel(
      sides.map((side: string) => () => agent(`Review the change for ${side}.`, { label: side, schema: z.array(Finding) })),
    );
    phase("Weigh");
    const findings = found.filter((list) => list !== null).flat();
    const summary = await agent(`Weigh these findings: ${JSON.stringify(findings)}`, { label: "weigh" });
    return { findings: findings.length, summary };
  },
});
