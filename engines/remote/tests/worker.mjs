// Serves the Worker of TanStack's Cloudflare isolate driver from this machine, in workerd, and prints its address.
//
// What it needs is installed into the cache, nothing into the repository. The Worker itself comes from the npm package, or, where the
// registry does not have that, from its two files `index.ts` and `wrap-code.ts` in `cloudflare-worker/source` of the cache
// (github.com/TanStack/ai, packages/typescript/ai-isolate-cloudflare/src/worker).

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const PACKAGE = '@tanstack/ai-isolate-cloudflare';
const COMPATIBILITY_DATE = '2026-04-01';

const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'isolith', 'cloudflare-worker');
const installed = (name) => existsSync(join(folder, 'node_modules', name));
const install = (...names) =>
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--no-save', ...names], { cwd: folder, stdio: 'ignore' });
const load = (name) => import(pathToFileURL(createRequire(join(folder, 'x.js')).resolve(name)));

mkdirSync(folder, { recursive: true });
if (!existsSync(join(folder, 'package.json'))) writeFileSync(join(folder, 'package.json'), '{"private":true}');
if (!installed('miniflare') || !installed('esbuild')) install('miniflare', 'esbuild');

const source = () => {
  const own = join(folder, 'source', 'index.ts');
  if (existsSync(own)) return own;
  if (!installed(PACKAGE)) install('miniflare', 'esbuild', PACKAGE);
  return join(folder, 'node_modules', PACKAGE, 'src', 'worker', 'index.ts');
};

const { build } = await load('esbuild');
const { Miniflare } = await load('miniflare');
const built = await build({ entryPoints: [source()], bundle: true, format: 'esm', write: false, logLevel: 'error' });
const miniflare = new Miniflare({
  modules: [{ type: 'ESModule', path: 'worker.js', contents: built.outputFiles[0].text }],
  compatibilityDate: COMPATIBILITY_DATE,
  workerLoaders: { LOADER: {} },
  port: 0,
});
const url = await miniflare.ready;
console.log(url.href);

// Whoever started this holds its stdin, and is gone when that is.
process.stdin.resume();
process.stdin.on('end', async () => {
  await miniflare.dispose();
  process.exit(0);
});
