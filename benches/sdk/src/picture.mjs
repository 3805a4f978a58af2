// The rows as bars on a logarithmic scale, one group for each.
import { median } from "./measure.mjs";
import { micros, times } from "./report.mjs";

const SHOWN = ["trivial", "one_call", "hundred_calls", "parallel", "concurrent"];
const COLOURS = { isolith: "#0ca678" };
const GREY = "#8a94a6";
const [LEFT, RIGHT, TOP, BAR, GAP, GROUP] = [150, 560, 84, 18, 4, 22];

export function picture(report) {
  const names = Object.keys(report.packages);
  const rows = SHOWN.map((id) => report.rows.find((row) => row.id === id)).filter((row) => row !== undefined && row.peers.isolith.failed === undefined);
  const values = rows.flatMap((row) => names.flatMap((name) => (row.peers[name].failed ? [] : [median(row.peers[name].wall_us)])));
  const [low, high] = [10 ** Math.floor(Math.log10(Math.min(...values))), 10 ** Math.ceil(Math.log10(Math.max(...values)))];
  const width = (value) => ((RIGHT - LEFT) * Math.log10(value / low)) / Math.log10(high / low);
  const parts = [];
  let y = TOP;
  for (const row of rows) {
    parts.push(text(20, y + 13, row.title.replaceAll("`", ""), { weight: 600 }));
    y += GROUP;
    const own = median(row.peers.isolith.wall_us);
    for (const name of names) {
      parts.push(...bar(name, row.peers[name], own, y, width));
      y += BAR + GAP;
    }
    y += GROUP / 2;
  }
  const note = `${report.command}: medians of ${report.rounds} rounds in turns in one process, Node ${report.machine.node}. The drivers' own interface, wall time.`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 ${y + 34}" width="760" height="${y + 34}" role="img" aria-label="Code Mode drivers: isolith and its peers" font-family="system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif" fill="#737c8a">`,
    text(20, 30, "TanStack Code Mode drivers, the same work", { size: 18, weight: 600 }),
    text(20, 52, "wall time, median; logarithmic scale, shorter is better", { size: 13 }),
    text(740, 74, "times isolith", { size: 12, anchor: "end" }),
    ...parts,
    text(20, y + 20, note, { size: 12 }),
    "</svg>\n",
  ].join("\n");
}

function bar(name, result, own, y, width) {
  const colour = COLOURS[name] ?? GREY;
  const label = text(LEFT - 10, y + 13, name, { anchor: "end", fill: COLOURS[name], weight: COLOURS[name] ? 600 : 400 });
  if (result.failed !== undefined) return [label, text(LEFT, y + 13, result.failed.split(":")[0])];
  const value = median(result.wall_us);
  const long = Math.max(2, width(value));
  const parts = [
    label,
    `<rect x="${LEFT}" y="${y}" width="${long.toFixed(1)}" height="${BAR}" rx="3" fill="${colour}"/>`,
    text(LEFT + long + 8, y + 13, micros(value), { fill: COLOURS[name], weight: 600 }),
  ];
  if (name !== "isolith") parts.push(text(740, y + 13, times(value / own), { anchor: "end", weight: 600 }));
  return parts;
}

function text(x, y, content, { size = 13, weight = 400, anchor, fill } = {}) {
  const escaped = content.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]);
  const extra = `${anchor ? ` text-anchor="${anchor}"` : ""}${fill ? ` fill="${fill}"` : ""}`;
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" font-size="${size}" font-weight="${weight}"${extra}>${escaped}</text>`;
}
