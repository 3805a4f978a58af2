// Adds up every CSV file of a folder and writes one report: read below `data`, write one file.
const totals: Record<string, number> = {};

for (const entry of await files.list("data")) {
  if (!entry.name.endsWith(".csv")) continue;
  const text: string = await files.readText(`data/${entry.name}`);
  const [, ...rows] = text.trim().split("\n");
  for (const row of rows) {
    const [region, amount] = row.split(",");
    totals[region] = (totals[region] ?? 0) + Number(amount);
  }
}

await files.writeJson("out/totals.json", totals);
return totals;
