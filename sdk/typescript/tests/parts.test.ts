import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { typeOf } from "../src/ai/stubs.js";
import { DEFAULT_BACKOFF, delayBefore } from "../src/backoff.js";
import { sanitizeToolName } from "../src/cloudflare/namespaces.js";
import { describeThrown } from "../src/errors.js";
import { correctPlaces, setUp } from "../src/guest/setup.js";
import { Lines } from "../src/lines.js";
import { bindTools } from "../src/tanstack/bindings.js";

test("lines are cut at newlines only, however their bytes are cut", () => {
  const text = "first\n\nthird with é and 😀\nlast\n";
  const bytes = Buffer.from(text);
  for (let step = 1; step <= bytes.length; step++) {
    const seen: string[] = [];
    const lines = new Lines(1000, (line) => seen.push(line));
    for (let at = 0; at < bytes.length; at += step) assert.ok(lines.push(bytes.subarray(at, at + step)));
    assert.deepEqual(seen, text.split("\n").slice(0, -1), `by ${step}`);
  }
});

test("a line that does not end is not collected for ever", () => {
  const lines = new Lines(10, () => {});
  assert.ok(lines.push(Buffer.from("0123456789")));
  assert.ok(!lines.push(Buffer.from("x")));
});

test("delays double up to the longest, and end", () => {
  const backoff = { attempts: 5, firstDelayMs: 100, longestDelayMs: 500 };
  const longest = [0, 1, 2, 3, 4, 5].map((attempt) => delayBefore(attempt, backoff, () => 1));
  assert.deepEqual(longest, [100, 200, 400, 500, 500, undefined]);
  assert.equal(
    delayBefore(0, backoff, () => 0),
    50,
  );
  assert.equal(delayBefore(0, { ...DEFAULT_BACKOFF, attempts: 0 }), undefined);
});

test("whatever is thrown has a name and a message", () => {
  const odd = {
    get message() {
      throw new Error("no");
    },
  };
  const rows: [unknown, string, string][] = [
    [new TypeError("t"), "TypeError", "t"],
    ["text", "Error", "text"],
    [null, "Error", "null"],
    [{ name: "Mine", message: "m" }, "Mine", "m"],
    [{ a: 1 }, "Error", '{"a":1}'],
    [Symbol("s"), "Error", "Symbol(s)"],
    [odd, "Error", "something was thrown that cannot be shown"],
  ];
  for (const [thrown, name, message] of rows) assert.deepEqual(describeThrown(thrown), { name, message });
});

test("a set-up program keeps its lines, and the first line's places are moved back", () => {
  const code = "throw new Error('x')\n";
  const { program } = setUp(code, {});
  const shift = program.indexOf(code);
  assert.ok(shift > 0 && !program.slice(0, shift).includes("\n"));
  const stack = `    at f (code.js:1:${shift + 7})\n    at <anonymous> (code.js:12:3)`;
  const moved = correctPlaces({ kind: "thrown", name: "Error", message: "x", line: 1, column: shift + 7, stack }, code, "code.js");
  assert.equal(moved.column, 7);
  assert.equal(moved.stack, "    at f (code.js:1:7)\n    at <anonymous> (code.js:12:3)");
});

test("a directive stays one", () => {
  for (const strict of ['"use strict"; x = 1', "/* a */ // b\n 'use strict'\nx = 1"])
    assert.ok(setUp(strict, {}).program.startsWith('"use strict";'));
  for (const sloppy of ['x; "use strict"', "/* 'use strict' */ x", "// 'use strict'", "/*"]) {
    assert.ok(!setUp(sloppy, {}).program.startsWith('"use strict";'));
  }
});

test("hostile text before the code is looked at once", () => {
  // This ends: an expression that could match a comment in two ways would not.
  assert.ok(setUp("/**/".repeat(200_000), {}).program.length > 800_000);
});

test("bindings are sent by names that the sandbox can have", () => {
  const binding = { name: "", description: "", inputSchema: {}, execute: async () => 1 };
  const names = (keys: string[]) => {
    const { tools, globals } = bindTools(Object.fromEntries(keys.map((key) => [key, binding])));
    return [Object.keys(tools), globals];
  };
  assert.deepEqual(names(["external_a", "external_b"]), [["a", "b"], undefined]);
  assert.deepEqual(names(["external_a", "snippet_b"]), [["a", "snippet_b"], { snippet_b: "snippet_b" }]);
  assert.deepEqual(names(["external_a", "a"]), [["tool0$", "a"], { external_a: "tool0$", a: "a" }]);
  assert.deepEqual(names(["external_1"]), [["tool0$"], { external_1: "tool0$" }]);
  for (const bad of ["a-b", "1a", "", "class", "a b", "})("]) assert.throws(() => names([bad]), /Invalid tool name/, bad);
});

test("tool names become properties", () => {
  const rows = { "get-weather": "get_weather", "a.b c": "a_b_c", "1st": "_1st", delete: "delete_", "!": "_", ok: "ok" };
  for (const [name, plain] of Object.entries(rows)) assert.equal(sanitizeToolName(name), plain);
});

test("schemas become types", () => {
  const rows: [unknown, string][] = [
    [
      { type: "object", properties: { a: { type: "string" }, "b-c": { type: "integer" } }, required: ["a"] },
      '{ a: string; "b-c"?: number }',
    ],
    [{ type: "array", items: { enum: ["x", 1, null] } }, 'Array<"x" | 1 | null>'],
    [{ type: ["string", "null"] }, "string | null"],
    [{ anyOf: [{ const: 1 }, { type: "boolean" }] }, "1 | boolean"],
    [{ type: "object" }, "Record<string, unknown>"],
    [{ $ref: "#/x" }, "unknown"],
    [undefined, "unknown"],
  ];
  for (const [schema, type] of rows) assert.equal(typeOf(schema, 0), type);
});
