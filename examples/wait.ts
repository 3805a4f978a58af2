// A program that waits can be put on disk and taken up again, in another process or on another machine:
//   isolith run examples/wait.ts --suspend waiting.run     (exits with 75)
//   isolith resume waiting.run
// Promises in flight, closures and the call stack are all still there.

const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

const rows = Array.from({ length: 1000 }, (_, i) => ({ id: i, name: `row ${i}` }));
console.log(`holding ${rows.length} rows`);

const finished: string[] = [];
await Promise.all(
  [30, 10, 20].map(async (ms) => {
    await sleep(ms);
    finished.push(`${ms} ms`);
  }),
);

return { finished, last: rows.at(-1)?.name };
