// Looks through a key space without changing it: a grant to read is enough.
interface Article {
  title: string;
  words: number;
}

const keys: string[] = [];
for await (const key of kv.articles.keys("2026/")) keys.push(key);

const articles: Article[] = await kv.articles.getMany(keys);
return articles.filter((article) => article.words > 500).map((article) => article.title);
