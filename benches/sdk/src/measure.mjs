import { readFileSync } from "node:fs";
import process from "node:process";

const TICK_US = 10_000;

/** A slow peer repeats a row less often: after this long it has been seen well enough. */
const TIME_MS = 1500;
const REPEAT_MIN = 2;

/** Wall time and CPU time of all processes that work for a peer, per repetition, in microseconds. */
export async function measure(peer, row, repeat) {
  const per = row.per ?? 1;
  const laps = [];
  const cpuBefore = cpu(peer);
  const began = performance.now();
  while (laps.length < repeat && (laps.length < REPEAT_MIN || performance.now() - began < TIME_MS)) {
    const started = performance.now();
    await row.once(peer.driver);
    laps.push(((performance.now() - started) * 1000) / per);
  }
  return { wall_us: median(laps), cpu_us: (cpu(peer) - cpuBefore) / laps.length / per };
}

/** CPU of this process and of those that work for the peer. The latter is counted by the system in steps of 10 ms. */
function cpu(peer) {
  const { user, system } = process.cpuUsage();
  return peer.others.reduce((sum, pid) => sum + cpuOf(pid), user + system);
}

function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}

/** Resident memory of this process and of those that work for the peer, in KiB. */
export function memory(peer) {
  globalThis.gc?.();
  globalThis.gc?.();
  return { own_kib: resident(process.pid), others_kib: peer.others.reduce((sum, pid) => sum + resident(pid), 0) };
}

function resident(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]);
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
