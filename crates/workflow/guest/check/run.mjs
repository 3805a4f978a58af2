// Checks the library of workflows in node, with a host played by the tests. Nothing needs to be installed.
//
//   node crates/workflow/guest/check/run.mjs

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

// Modules in a realm of their own are behind a flag.
const FLAG = '--experimental-vm-modules';
if (!process.execArgv.includes(FLAG)) {
  const { status } = spawnSync(process.execPath, [FLAG, '--no-warnings', fileURLToPath(import.meta.url)], { stdio: 'inherit', env: { ...process.env, TZ: 'UTC' } });
  process.exit(status ?? 1);
}

const assert = (await import('node:assert/strict')).default;
const groups = [];
for (const name of ['agents', 'branches', 'children', 'time', 'failures', 'determinism', 'tamper', 'schemas']) {
  groups.push([name, (await import(`./${name}.mjs`)).default]);
}
let passed = 0;
const failures = [];
for (const [group, tests] of groups) {
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test(assert);
      passed += 1;
    } catch (error) {
      failures.push(`${group}: ${name}\n  ${String(error.message).replaceAll('\n', '\n  ')}`);
    }
  }
}
for (const failure of failures) console.log(failure);
console.log(`${passed} passed, ${failures.length} failed`);
process.exit(failures.length === 0 ? 0 : 1);
