// Checks the prelude against Node's own implementations: `node engines/prelude/check/run.mjs [group]`.
// Each case is one expression, evaluated in a bare realm with the prelude and in Node itself; both must give the same.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

if (!process.execArgv.includes('--expose-internals')) {
  // Promise states and proxy targets are engine internals, and the oracle must have the guest's zone and language.
  const env = { ...process.env, TZ: 'UTC', LANG: 'en_US.UTF-8', LC_ALL: 'en_US.UTF-8' };
  const child = spawnSync(process.execPath, ['--expose-internals', '--no-warnings', fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit', env });
  process.exit(child.status ?? 1);
}

const { load } = await import('./load.mjs');
const { differences } = await import('./differences.mjs');
const { internalBinding } = createRequire(import.meta.url)('internal/test/binding');
const internals = internalBinding('util');

let passed = 0;
let failed = 0;
const used = new Set();
const report = (group, name, got, wanted) => {
  const known = differences.get(`${group}: ${name}`);
  if (known !== undefined) used.add(`${group}: ${name}`);
  const same = got === wanted;
  if (same === (known === undefined)) {
    passed += 1;
    return;
  }
  failed += 1;
  console.log(known === undefined ? `FAILED ${group}: ${name}\n  got    ${JSON.stringify(got)}\n  wanted ${JSON.stringify(wanted)}`
    : `FAILED ${group}: ${name}\n  is listed as a difference, but both give ${JSON.stringify(got)}`);
};

/** One text for any outcome. Errors count by name: messages are each implementation's own. */
const outcome = async (work) => {
  try {
    const value = await work();
    return typeof value === 'string' ? value : String(JSON.stringify(value));
  } catch (error) {
    return `throws ${error?.name}`;
  }
};

const host = (0, eval);
const tools = {
  fresh: (options) => load({ internals, ...options }),
  /** The same expression on both sides; `code` turns the name of a case into the expression. */
  async same(group, expressions, code = (expression) => expression) {
    const guest = load({ internals });
    for (const expression of expressions) {
      const wrapped = `(async () => (${code(expression)}))()`;
      report(group, expression, await outcome(() => guest.run(wrapped)), await outcome(() => host(wrapped)));
    }
  },
  /** The same work on both sides. */
  compare: async (group, name, guest, node) => report(group, name, await outcome(guest), await outcome(node)),
  is: (group, name, got, wanted = true) => report(group, name, typeof got === 'string' ? got : JSON.stringify(got), typeof wanted === 'string' ? wanted : JSON.stringify(wanted)),
};

const groups = ['sources', 'inspect', 'console', 'url', 'encoding', 'events', 'clone', 'fetch', 'crypto', 'intl', 'bindings', 'network', 'grants', 'tamper'];
for (const group of groups) {
  if (process.argv[2] !== undefined && process.argv[2] !== group) continue;
  const before = passed + failed;
  await (await import(`./${group}.mjs`)).default(tools);
  console.log(`${group}: ${passed + failed - before} checks`);
}
if (process.argv[2] === undefined) {
  for (const key of differences.keys()) {
    if (used.has(key)) continue;
    failed += 1;
    console.log(`FAILED the difference "${key}" belongs to no check`);
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
