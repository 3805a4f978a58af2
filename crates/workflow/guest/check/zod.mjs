// Compares the JSON Schema and the verdicts of our `z` with those of zod 4.
//
//   npm install zod@4 --prefix /tmp/zod && ZOD=/tmp/zod/node_modules/zod node crates/workflow/guest/check/zod.mjs

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

if (!process.env.ZOD) {
  console.log('SKIPPED: schemas were not compared with zod. Set ZOD to the folder of zod 4, e.g. /tmp/zod/node_modules/zod.');
  process.exit(0);
}
const { z: theirs } = await import(pathToFileURL(join(process.env.ZOD, 'v4/index.js')));
const { z: ours } = await import('../z.js');

const schemas = [
  (z) => z.string(), (z) => z.string().min(2), (z) => z.string().max(5), (z) => z.string().min(2).max(5), (z) => z.string().max(5).min(2),
  (z) => z.string().min(2).min(4).min(3), (z) => z.string().length(3), (z) => z.string().nonempty(), (z) => z.string().email(), (z) => z.email(),
  (z) => z.string().url(), (z) => z.url(), (z) => z.string().uuid(), (z) => z.uuid(), (z) => z.guid(), (z) => z.string().datetime(), (z) => z.iso.datetime(),
  (z) => z.iso.date(), (z) => z.string().date(), (z) => z.iso.time(), (z) => z.ipv4(), (z) => z.string().regex(/^a+$/), (z) => z.string().regex(/a/i).regex(/b/g),
  (z) => z.string().min(1).regex(/^[a-z]+$/).max(9), (z) => z.string().email().min(5), (z) => z.string().startsWith('a.b'), (z) => z.string().endsWith('z?'),
  (z) => z.string().includes('(m)'), (z) => z.string().email().regex(/x/), (z) => z.string().regex(/x/).email(), (z) => z.string().startsWith('a').regex(/x/),
  (z) => z.number(), (z) => z.number().int(), (z) => z.int(), (z) => z.number().min(1), (z) => z.number().max(9), (z) => z.number().min(1).max(9),
  (z) => z.number().positive(), (z) => z.number().negative(), (z) => z.number().nonnegative(), (z) => z.number().nonpositive(), (z) => z.number().int().positive(),
  (z) => z.number().int().min(0).max(10), (z) => z.number().gt(1).gte(1), (z) => z.number().gt(1).gte(2), (z) => z.number().lt(5).lte(5), (z) => z.number().lt(5).lte(4),
  (z) => z.number().multipleOf(5), (z) => z.number().multipleOf(5).multipleOf(-3), (z) => z.number().step(0.1), (z) => z.number().finite(), (z) => z.number().safe(),
  (z) => z.number().max(3).int(), (z) => z.int().nonnegative(), (z) => z.boolean(), (z) => z.null(), (z) => z.any(), (z) => z.unknown(), (z) => z.never(),
  (z) => z.enum(['a', 'b']), (z) => z.enum({ A: 'x', B: 'y' }), (z) => z.enum(['a', 'b', 'c']).exclude(['b']), (z) => z.enum(['a', 'b', 'c']).extract(['b']),
  (z) => z.literal('a'), (z) => z.literal(1), (z) => z.literal(true), (z) => z.literal(null), (z) => z.literal(['a', 'b']), (z) => z.literal([1, 2]),
  (z) => z.literal(['a', 1]), (z) => z.array(z.string()), (z) => z.array(z.string()).min(1), (z) => z.array(z.string()).max(3).min(1), (z) => z.array(z.number()).length(2),
  (z) => z.array(z.number()).nonempty(), (z) => z.string().array(), (z) => z.array(z.array(z.boolean())), (z) => z.tuple([z.string(), z.number()]),
  (z) => z.tuple([z.string()], z.number()), (z) => z.tuple([z.string(), z.number().optional()]), (z) => z.record(z.string(), z.number()),
  (z) => z.record(z.enum(['a', 'b']), z.number()), (z) => z.partialRecord(z.enum(['a', 'b']), z.number()), (z) => z.record(z.string().min(2), z.any()),
  (z) => z.record(z.literal(['x', 'y']), z.string()), (z) => z.union([z.string(), z.number()]), (z) => z.union([z.string().min(1), z.number()]), (z) => z.string().or(z.null()),
  (z) => z.union([z.union([z.string(), z.number()]), z.boolean()]), (z) => z.union([z.string(), z.string()]), (z) => z.union([z.literal('a'), z.literal('b')]),
  (z) => z.discriminatedUnion('t', [z.object({ t: z.literal('a'), a: z.string() }), z.object({ t: z.literal('b'), b: z.number() })]),
  (z) => z.string().nullable(), (z) => z.string().min(1).nullable(), (z) => z.string().nullish(), (z) => z.nullable(z.number()), (z) => z.optional(z.number()), (z) => z.nullish(z.number()),
  (z) => z.object({}), (z) => z.object({ a: z.string() }), (z) => z.object({ a: z.string(), b: z.number().optional() }), (z) => z.object({ a: z.string().optional() }),
  (z) => z.object({ a: z.string().default('x') }), (z) => z.object({ a: z.string().default('x').optional() }), (z) => z.object({ a: z.string().optional().default('x') }),
  (z) => z.object({ a: z.string().optional().nullable() }), (z) => z.object({ a: z.string().nullish() }), (z) => z.object({ a: z.any(), b: z.unknown() }),
  (z) => z.object({ a: z.union([z.string(), z.number().optional()]) }), (z) => z.strictObject({ a: z.string() }), (z) => z.looseObject({ a: z.string() }),
  (z) => z.object({ a: z.string() }).strict(), (z) => z.object({ a: z.string() }).loose(), (z) => z.object({ a: z.string() }).passthrough(), (z) => z.object({ a: z.string() }).catchall(z.number()),
  (z) => z.object({ a: z.string() }).extend({ b: z.number() }), (z) => z.object({ a: z.string(), b: z.number() }).extend({ a: z.boolean() }),
  (z) => z.object({ a: z.string(), b: z.number() }).pick({ b: true }), (z) => z.object({ a: z.string(), b: z.number() }).omit({ b: true }),
  (z) => z.object({ a: z.string(), b: z.number() }).partial(), (z) => z.object({ a: z.string(), b: z.number() }).partial({ b: true }), (z) => z.object({ a: z.string().optional() }).required(),
  (z) => z.object({ a: z.string(), b: z.number() }).keyof(), (z) => z.object({ a: z.string() }).merge(z.object({ b: z.string() })), (z) => z.object({ a: z.string() }).strict().extend({ b: z.number() }),
  (z) => z.object({ deep: z.object({ list: z.array(z.object({ n: z.number().int().min(1) })) }) }), (z) => z.object({ 'a b': z.string(), 2: z.string(), 1: z.string() }),
  (z) => z.string().describe('d'), (z) => z.string().describe('d').min(2), (z) => z.string().min(2).describe('d'), (z) => z.string().describe('d').optional(), (z) => z.string().optional().describe('d'),
  (z) => z.string().describe('in').optional().describe('out'), (z) => z.string().describe('d').nullable(), (z) => z.string().nullable().describe('d'), (z) => z.string().describe('d').default('x'),
  (z) => z.string().default('x').describe('d'), (z) => z.number().nullable().default(null), (z) => z.array(z.string().describe('each')).describe('all').min(1), (z) => z.object({ a: z.string().describe('a!') }).describe('o'),
  (z) => z.object({ a: z.string() }).describe('o').strict(), (z) => z.object({ a: z.string() }).describe('o').extend({ b: z.string() }), (z) => z.object({ a: z.string() }).describe('o').partial(),
  (z) => z.enum(['a']).describe('e'), (z) => z.string().describe('one').describe('two'), (z) => z.string().meta({ title: 'T', examples: ['x'] }), (z) => z.string().meta({ title: 'T' }).describe('d'),
  (z) => z.string().describe('d').meta({ title: 'T' }), (z) => z.string().readonly(), (z) => z.array(z.string()).readonly().describe('r'), (z) => z.array(z.number()).default([1]),
  (z) => z.object({ a: z.number() }).default({ a: 1 }), (z) => z.string().default(() => 'made'), (z) => z.string().nullable().optional().describe('d'), (z) => z.union([z.string(), z.null()]).describe('u'),
  (z) => z.object({ verdict: z.enum(['yes', 'no']), score: z.number().min(0).max(1), why: z.string().describe('one sentence'), tags: z.array(z.string()).optional() }),
];

// Values that each schema is tried with: the verdict and what comes out must be the same.
const values = [
  undefined, null, true, 0, 1, 2.5, -3, 6, 15, 1e300, NaN, '', 'a', 'b', 'x', 'aaa', 'xyz', 'a.b', 'me@example.com', 'https://example.com/a', '2024-02-29', '2024-02-30', '12:30',
  '2024-02-29T12:30:00Z', '1.2.3.4', '123e4567-e89b-42d3-a456-426614174000', [], ['a'], [1, 2], ['a', 1], [true], [[true]], {}, { a: 'x' }, { a: 'x', b: 1 }, { a: 'x', b: 'y' }, { b: 1 },
  { a: null }, { a: 1 }, { a: 'x', extra: 1 }, { t: 'a', a: 'x' }, { t: 'b', b: 2 }, { t: 'c' }, { x: 'p', y: 'q' }, { verdict: 'yes', score: 0.5, why: 'w' }, { verdict: 'yes', score: 2, why: 'w' },
  { deep: { list: [{ n: 1 }] } }, { deep: { list: [{ n: 0 }] } },
];

const failures = [];
for (const build of schemas) {
  const text = String(build).replace('(z) => ', '');
  const [a, b] = [ours, theirs].map((z) => {
    try {
      const { $schema, ...json } = z.toJSONSchema(build(z));
      return JSON.stringify(json);
    } catch (error) {
      return `throws ${error.message}`;
    }
  });
  if (a !== b) failures.push(`${text}\n    ours  ${a}\n    zod's ${b}`);
  for (const value of values) {
    const [ourOut, theirOut] = [ours, theirs].map((z) => {
      const result = build(z).safeParse(value);
      return result.success ? `fits ${JSON.stringify(result.data)}` : 'does not fit';
    });
    if (ourOut !== theirOut) failures.push(`${text} of ${JSON.stringify(value)}\n    ours  ${ourOut}\n    zod's ${theirOut}`);
  }
}
console.log(failures.join('\n'));
console.log(`${schemas.length} schemas, ${schemas.length * values.length} verdicts compared with zod: ${failures.length} differences`);
process.exit(failures.length === 0 ? 0 : 1);
