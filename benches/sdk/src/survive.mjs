// Whether a peer survives a row at all, tried in a process of its own because some failures take the process with them.
//   node survive.mjs PEER ROW
import { spawnSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { openPeers } from "./peers.mjs";
import { ROWS } from "./rows.mjs";

const TIMEOUT_MS = 60_000;
const REPEAT = 3;
const SURVIVED = "survived";

/** `undefined` if it does, otherwise what happened. */
export function failure(peer, row) {
  const self = fileURLToPath(import.meta.url);
  const ran = spawnSync(process.execPath, [...process.execArgv, self, peer, row], { encoding: "utf8", timeout: TIMEOUT_MS });
  // What happens while the process ends is not the row's fault.
  if (ran.stdout.includes(SURVIVED)) return undefined;
  const said = ran.stderr.split("\n").find((line) => /^\S*Error/.test(line)) ?? "no answer";
  return ran.error === undefined ? `ends the process: ${said.trim()}` : `does not end within ${TIMEOUT_MS / 1000} s`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , name, id] = process.argv;
  const [peer] = await openPeers([name]);
  const row = ROWS.find((one) => one.id === id);
  for (let i = 0; i < REPEAT; i++) await row.once(peer.driver);
  process.stdout.write(SURVIVED, () => process.exit(0));
}
