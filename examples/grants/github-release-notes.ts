// Shows the names of the latest releases of a project: one GET request to one path.
interface Release {
  tag_name: string;
  body: string;
}

const response = await fetch("https://api.github.test/repos/isolith/demo/releases?per_page=3", {
  headers: { accept: "application/vnd.github+json" },
});
if (!response.ok) throw new Error(`GitHub answered ${response.status}`);

const releases: Release[] = await response.json();
return releases.map((release) => `${release.tag_name}: ${release.body.split("\n")[0]}`);
