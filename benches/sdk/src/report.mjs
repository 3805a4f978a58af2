import { median } from "./measure.mjs";

/** The results as a Markdown table, with how many times isolith's value each peer's is. */
export function table(report) {
  const names = Object.keys(report.packages);
  const lines = [`| | ${names.map((name) => report.packages[name].replace(", ", ",<br>")).join(" | ")} |`, `|---|${names.map(() => "---:|").join("")}`];
  for (const row of report.rows) {
    for (const [what, label] of [
      ["wall_us", "wall"],
      ["cpu_us", "CPU"],
    ]) {
      const own = row.peers.isolith[what] && median(row.peers.isolith[what]);
      const cells = names.map((name) => cell(row.peers[name], what, name === "isolith" ? undefined : own));
      lines.push(`| ${row.title}${row.unit === "µs" ? "" : `, ${row.unit}`} (${label}) | ${cells.join(" | ")} |`);
    }
  }
  if (Object.keys(report.memory).length > 0) {
    const [{ runs }] = Object.values(report.memory);
    lines.push(`| memory grown over ${runs.toLocaleString("en")} runs with a tool call | ${names.map((name) => grown(report.memory[name])).join(" | ")} |`);
  }
  const { cores, cpu, system, node, load } = report.machine;
  lines.push("", `\`${report.command}\`: medians of ${report.rounds} rounds in turns, in one process of Node ${node} on ${cores} cores of ${cpu}, ${system}, load ${load}.`, "");
  return lines.join("\n");
}

function cell(result, what, own) {
  if (result.failed !== undefined) return "fails";
  const value = median(result[what]);
  return own === undefined ? `**${micros(value)}**` : `${micros(value)} (${times(value / own)})`;
}

function grown({ grown_kib, after }) {
  const both = after.others_kib === 0 ? "" : `, daemon ${Math.round(after.others_kib / 1024)} MiB in all`;
  return `${(grown_kib / 1024).toFixed(1)} MiB${both}`;
}

export function micros(value) {
  if (value >= 10_000) return `${(value / 1000).toFixed(1)} ms`;
  return `${value >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(1)} µs`;
}

export function times(ratio) {
  return `${ratio >= 10 ? Math.round(ratio) : ratio.toFixed(ratio >= 1 ? 1 : 2)}×`;
}
