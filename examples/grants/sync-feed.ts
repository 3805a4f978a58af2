// A bit of everything: fetches a feed, remembers what was seen, writes a digest and tells someone.
interface Item {
  id: string;
  title: string;
}

const feed: { items: Item[] } = await (await fetch("https://news.example.test/feed.json")).json();

const fresh: Item[] = [];
for (const item of feed.items) {
  if ((await kv.seen.get(item.id)) !== null) continue;
  await kv.seen.put(item.id, true);
  fresh.push(item);
}

const digest = fresh.map((item) => `- ${item.title}`).join("\n");
await files.write("out/digest.md", `# News\n\n${digest}\n`);
await tools.notify({ text: `${fresh.length} new articles` });

return fresh.map((item) => item.id);
