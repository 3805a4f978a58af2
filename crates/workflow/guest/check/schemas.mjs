// `z` without zod at hand: a few texts of JSON Schema and verdicts. `zod.mjs` compares many.

import { run } from './load.mjs';

const value = async (expression) => (await run(`return ${expression};`)).result.value;
const json = async (expression) => JSON.stringify(await value(`z.toJSONSchema(${expression})`));

export default {
  async 'JSON Schema has the fields and the order of zod 4'(assert) {
    assert.equal(await json('z.object({ s: z.string().min(1).describe("d"), n: z.number().int().max(9).optional(), l: z.array(z.enum(["a", "b"])).nonempty() })'),
      '{"type":"object","properties":{"s":{"type":"string","minLength":1,"description":"d"},"n":{"type":"integer","minimum":-9007199254740991,"maximum":9},"l":{"minItems":1,"type":"array","items":{"type":"string","enum":["a","b"]}}},"required":["s","l"],"additionalProperties":false}');
    assert.equal(await json('z.union([z.string().nullable(), z.literal(1)]).default("x")'), '{"default":"x","anyOf":[{"type":["string","null"]},{"type":"number","const":1}]}');
    assert.equal(await json('z.record(z.enum(["a"]), z.tuple([z.boolean(), z.any()]))'), '{"type":"object","propertyNames":{"type":"string","enum":["a"]},"additionalProperties":{"type":"array","prefixItems":[{"type":"boolean"},{}],"items":false,"minItems":2,"maxItems":2},"required":["a"]}');
  },
  async 'parse gives the value with defaults and without unknown fields, or throws'(assert) {
    assert.deepEqual(await value('z.object({ a: z.string().default("x"), b: z.number().optional() }).parse({ c: 1 })'), { a: 'x' });
    const said = await value('(() => { try { z.object({ a: z.object({ b: z.array(z.number().min(2)) }) }).parse({ a: { b: [3, 1] } }); } catch (e) { return [e instanceof Error, e.name, e.message, e.issues]; } })()');
    assert.deepEqual(said, [true, 'ZodError', 'a.b.1: must be at least 2', [{ path: ['a', 'b', 1], message: 'must be at least 2' }]]);
  },
  async 'safeParse tells instead'(assert) {
    assert.deepEqual(await value('[z.string().safeParse("x"), z.string().safeParse(1).success, z.string().safeParse(1).error.message]'), [{ success: true, data: 'x' }, false, 'string expected, not number']);
  },
  async 'a global expression starts over at each look'(assert) {
    assert.deepEqual(await value('(() => { const s = z.string().regex(/a/g); return [s.safeParse("a").success, s.safeParse("a").success]; })()'), [true, true]);
  },
  async 'what is no schema is refused where it is written'(assert) {
    const said = await value('[() => z.object({ a: "string" }), () => z.array(), () => z.record(z.number(), z.any()), () => z.enum([]), () => z.literal(undefined), () => z.string().min("x"), () => z.number().multipleOf(0), () => z.object({}).pick({ a: true }), () => z.discriminatedUnion("t", [z.object({})]), () => z.union([]), () => z.string().meta({ id: "x" }), () => z.tuple(5)].map((f) => { try { f(); return "taken"; } catch (e) { return e.name; } })');
    assert.deepEqual(said, Array(12).fill('TypeError'));
  },
  async 'schemas are read-only and make new ones'(assert) {
    assert.deepEqual(await value('(() => { const a = z.string(); const b = a.min(3); return [a !== b, a.safeParse("").success, b.safeParse("").success, Object.isFrozen(a)]; })()'), [true, true, false, true]);
  },
};
