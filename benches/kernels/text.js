// Text: building a log, then finding, replacing and splitting in it with regular expressions.
const levels = ["INFO", "WARN", "ERROR", "DEBUG"];
let log = "";
for (let i = 0; i < 2500; i++) {
  const second = String(i % 60).padStart(2, "0");
  log += `2025-03-04T12:00:${second}Z [${levels[(i * 7) % 4]}] request ${i} from 10.0.${i % 256}.${(i * 31) % 256} took ${(i * 37) % 900} ms\n`;
}

const counts = {};
let total = 0;
for (const match of log.matchAll(/\[(\w+)\] request \d+ from ([\d.]+) took (\d+) ms/g)) {
  counts[match[1]] = (counts[match[1]] ?? 0) + 1;
  total += Number(match[3]);
}
const masked = log.replace(/\b(\d{1,3})\.(\d{1,3})\.\d{1,3}\.\d{1,3}\b/g, "$1.$2.x.x");
const slow = masked.split("\n").filter((line) => / took [89]\d\d ms$/.test(line));
const words = masked.toLowerCase().split(/\W+/);
return [counts, total, masked.length, slow.length, slow.map((line) => line.trim().toUpperCase()).join("|").length, words.length];
