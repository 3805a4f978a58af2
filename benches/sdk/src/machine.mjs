import { availableParallelism, cpus, loadavg, release } from "node:os";
import process from "node:process";

export function machine() {
  return {
    cores: availableParallelism(),
    cpu: cpus()[0].model.trim(),
    system: `Linux ${release()}`,
    node: process.versions.node,
    load: Number(loadavg()[0].toFixed(1)),
  };
}
