// What is measured. Every row does the same work through the same interface on every peer, and checks its result.

/** Milliseconds of one repetition become the row's value by `scale`, in its unit. */
export const ROWS = [
  {
    id: "trivial",
    title: "context, `return 1 + 1`, dispose",
    unit: "µs",
    repeat: { full: 400, quick: 60 },
    once: (driver) => execute(driver, "return 1 + 1", {}, 2),
  },
  {
    id: "program",
    title: "context, 1 KB of ordinary code with console output, dispose",
    unit: "µs",
    repeat: { full: 200, quick: 40 },
    once: (driver) => execute(driver, PROGRAM, {}, 55),
  },
  {
    id: "throughput",
    title: "`return 1 + 1`, eight at a time",
    unit: "µs a run",
    repeat: { full: 20, quick: 4 },
    per: 40,
    once: (driver) => many(8, 5, () => execute(driver, "return 1 + 1", {}, 2)),
  },
  {
    id: "one_call",
    title: "context, one tool call, dispose",
    unit: "µs",
    repeat: { full: 300, quick: 40 },
    once: (driver) => execute(driver, calls(1), ADD, 1),
  },
  {
    id: "hundred_calls",
    title: "context, 100 tool calls in a row, dispose",
    unit: "µs",
    repeat: { full: 30, quick: 6 },
    once: (driver) => execute(driver, calls(100), ADD, 100),
  },
  {
    id: "rows",
    title: "context, one tool call that answers 100 KB of rows, dispose",
    unit: "µs",
    repeat: { full: 60, quick: 10 },
    once: (driver) => execute(driver, "return (await external_rows({})).length", { external_rows: async () => DATA }, DATA.length),
  },
  {
    id: "parallel",
    title: "context, 20 tools of 5 ms in `Promise.all`, dispose",
    unit: "µs",
    repeat: { full: 6, quick: 2 },
    once: (driver) => execute(driver, PARALLEL, WAIT, 20),
  },
  {
    id: "concurrent",
    title: "50 contexts at once, two tool calls each",
    unit: "µs",
    repeat: { full: 10, quick: 3 },
    once: (driver) => many(50, 1, () => execute(driver, calls(2), ADD, 2)),
  },
];

const ADD = { external_add: async ({ n }) => n + 1 };
const WAIT = { external_wait: () => new Promise((done) => setTimeout(() => done(1), 5)) };
const PARALLEL = "return (await Promise.all(Array.from({ length: 20 }, () => external_wait({})))).length";
const DATA = Array.from({ length: 1000 }, (_, id) => ({ id, name: `row number ${id}`, email: `row${id}@example.com`, active: id % 2 === 0, score: id / 3 }));
const PROGRAM = `
const orders = Array.from({ length: 10 }, (_, i) => ({ id: i, customer: "customer " + (i % 3), total: i + 1, lines: ["a", "b"] }));
const byCustomer = new Map();
for (const order of orders) {
  const known = byCustomer.get(order.customer) ?? { customer: order.customer, total: 0, orders: [] };
  known.total += order.total;
  known.orders.push(order.id);
  byCustomer.set(order.customer, known);
}
const report = [...byCustomer.values()].sort((a, b) => b.total - a.total);
for (const row of report) console.log(row.customer, row.total);
const words = "the quick brown fox jumps over the lazy dog".split(" ").map((word) => word.toUpperCase()).filter((word) => /[AEIOU]/.test(word));
if (words.length !== 9) throw new Error("unexpected words: " + words.join(", "));
console.log(JSON.stringify(report));
return report.reduce((sum, row) => sum + row.total, 0);
`;

function calls(count) {
  return `let n = 0; for (let i = 0; i < ${count}; i++) n = await external_add({ n }); return n`;
}

async function execute(driver, code, tools, expected) {
  const context = await driver.createContext({ bindings: bindings(tools) });
  const result = await context.execute(code);
  await context.dispose();
  if (!result.success || result.value !== expected) throw new Error(`${JSON.stringify(result)} instead of ${expected}`);
}

function bindings(tools) {
  const entries = Object.entries(tools).map(([name, execute]) => [name, { name, description: "", inputSchema: {}, execute }]);
  return Object.fromEntries(entries);
}

async function many(workers, each, work) {
  const worker = async () => {
    for (let i = 0; i < each; i++) await work();
  };
  await Promise.all(Array.from({ length: workers }, worker));
}

/** What the memory is measured over. */
export const memoryWork = (driver) => execute(driver, calls(1), ADD, 1);
