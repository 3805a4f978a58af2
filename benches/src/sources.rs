//! The programs that are measured, as their authors wrote them.

use std::fmt::Write as _;

/// The least a program can do.
pub const TRIVIAL: &str = "return 1+1";

/// The program of a cold start, and what it writes.
pub const HELLO: (&str, &str) = ("const name: string = \"world\";\nconsole.log(`hello ${name}`);\n", "hello world");

/// A program that waits for the first of two answers.
pub const IDLE: &str = "const a = await tools.first({ x: 1 }); const b = await tools.second({ y: a }); return [a, b];";

/// A program that waits and holds two thousand rows while it does.
pub(crate) const IDLE_ROWS: &str = "
const rows = [];
for (let i = 0; i < 2000; i++) rows.push({ id: i, name: 'name ' + i, value: i * 1.5, tags: ['a' + i % 7, 'b'] });
const a = await tools.first({ rows: rows.length });
return [rows.length, a];";

/// A thousand calls at once.
pub(crate) const PARALLEL: &str = "
const all = await Promise.all(Array.from({ length: 1000 }, (_, id) => tools.echo({ id })));
return all.every((reply, id) => reply.id === id);";

/// A computation.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// The name of its file.
    pub name: &'static str,
    /// The body of a function that returns a check on its own result.
    pub source: &'static str,
    /// What it does, in a word or two.
    pub what: &'static str,
    /// How often a long program does it: about a second of a compiler's code.
    pub long: u32,
}

/// The computations every runtime is measured with.
pub const KERNELS: &[Kernel] = &[
    Kernel { name: "fib", source: include_str!("../kernels/fib.js"), what: "recursive calls", long: 400 },
    Kernel { name: "nbody", source: include_str!("../kernels/nbody.js"), what: "floats and properties", long: 1_600 },
    Kernel {
        name: "text",
        source: include_str!("../kernels/text.js"),
        what: "strings and regular expressions",
        long: 160,
    },
    Kernel { name: "objects", source: include_str!("../kernels/objects.js"), what: "objects, sorting, JSON", long: 80 },
    Kernel { name: "sieve", source: include_str!("../kernels/sieve.js"), what: "loops over typed arrays", long: 400 },
];

/// A kernel that computes for so long that what comes before does not matter.
pub fn heavy(kernel: &Kernel, times: u32) -> String {
    format!("let last; for (let i = 0; i < {times}; i++) last = (() => {{ {} }})(); return last", kernel.source)
}

/// What goes out with a call and comes back.
#[derive(Clone, Copy, Debug)]
pub struct Payload {
    /// Part of the row's id.
    pub name: &'static str,
    /// The expression that makes it.
    pub expression: &'static str,
    /// For people.
    pub what: &'static str,
    /// How many calls one run makes: enough that what comes before the first does not matter, and few enough that the run is a light
    /// one, far from the 50 ms of computing after which `auto` tries another engine.
    pub count: u32,
}

/// The payloads, from small to large.
pub const CALL_PAYLOADS: &[Payload] = &[
    Payload { name: "tiny", expression: "{ id: 1, rows: [] }", what: "tiny", count: 900 },
    Payload { name: "rows_1k", expression: "{ id: 1, rows: rows(16) }", what: "1 KB of rows", count: 400 },
    Payload { name: "rows_10k", expression: "{ id: 1, rows: rows(158) }", what: "10 KB of rows", count: 100 },
    Payload { name: "rows_100k", expression: "{ id: 1, rows: rows(1530) }", what: "100 KB of rows", count: 16 },
    Payload {
        name: "text_100k",
        expression: "{ id: 1, rows: 'lorem ipsum '.repeat(8530) }",
        what: "100 KB of text",
        count: 100,
    },
];

/// A program that calls `echo` with a payload, `count` times in a row, and checks what comes back.
pub fn calling(payload: &Payload, count: u32) -> String {
    format!(
        "const rows = (n) => Array.from({{ length: n }}, (_, id) => ({{ id, name: 'name ' + id, value: id * 1.5, tag: 'xxxxxxxxxx' }}));
const argument = {};
for (let i = 0; i < {count}; i++) {{
  const reply = await tools.echo(argument);
  if (reply.rows.length !== argument.rows.length) throw new Error('not the same');
}}
return 'done';",
        payload.expression
    )
}

/// About what one function of [`program_of`] takes.
const BLOCK_BYTES: usize = 800;

/// A program of about this size, written as models write: types, small functions, text, and a call of each.
pub(crate) fn program_of(bytes: usize) -> String {
    let mut out = String::from(
        "const orders = [{ id: 1, customer: \" Ada \", total: 120.5, tags: [\"paid\"] }];\nconst totals: number[] = [];\n",
    );
    let mut n = 0;
    while out.len() + BLOCK_BYTES / 2 < bytes {
        let _ = write!(
            out,
            r#"
interface Order{n} {{ id: number; customer: string; total: number; tags: string[] }}

// Adds up what the customers of region {n} have paid.
function summarise{n}(orders: Order{n}[], limit = {limit}): {{ total: number; names: string }} {{
  const wanted = orders.filter((order) => order.total > limit && order.tags.includes("paid"));
  let total = 0;
  for (const order of wanted) {{
    total += Math.round(order.total * 100) / 100;
  }}
  if (total > 1_000) {{
    console.warn(`region {n} is over its budget: ${{total.toFixed(2)}}`);
  }}
  return {{ total, names: wanted.map(({{ customer }}) => customer.trim().toUpperCase()).join(", ") }};
}}
totals.push(summarise{n}(orders).total);
"#,
            limit = n % 90
        );
        n += 1;
    }
    out.push_str("return totals.length;\n");
    out
}
