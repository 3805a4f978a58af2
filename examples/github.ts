// Release notes of a repository: what was merged since its last release.
//   isolith run examples/github.ts --allow-net 'GET https://api.github.com/repos/*' \
//     --secret GITHUB_TOKEN=env:GH_TOKEN --credential 'api.github.com: Authorization: Bearer ${GITHUB_TOKEN}'
// The token is added outside the sandbox, after the request was admitted: nothing here can see it.

type Release = { tag_name: string; published_at: string };
type Pull = { number: number; title: string; merged_at: string | null; user: { login: string } };

const repo: string = input?.repo ?? "rust-lang/log";

async function github<T>(path: string): Promise<T> {
  const response = await fetch(`https://api.github.com/repos/${repo}/${path}`);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${response.statusText}`);
  return response.json();
}

const [latest] = await github<Release[]>("releases?per_page=1");
const pulls = await github<Pull[]>("pulls?state=closed&sort=updated&direction=desc&per_page=50");
const merged = pulls.filter((pull) => pull.merged_at && pull.merged_at > (latest?.published_at ?? ""));

console.log(`${repo}: ${merged.length} pull requests since ${latest?.tag_name ?? "the beginning"}`);
return merged.map((pull) => `- ${pull.title} (#${pull.number}, @${pull.user.login})`);
