// Counts without losing an increment: the version that was read has to be the one that is replaced.
async function increment(key: string): Promise<number> {
  for (let attempt = 0; attempt < 10; attempt++) {
    const entry = await kv.counters.getWithMetadata(key);
    const next = ((entry?.value as number | undefined) ?? 0) + 1;
    const version = await kv.counters.compareAndSet(key, entry?.version ?? null, next);
    if (version !== null) return next;
  }
  throw new Error(`the counter ${key} is too busy`);
}

await increment("visits");
return increment("visits");
