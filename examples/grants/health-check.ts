// Asks several hosts whether they are well, with HEAD requests: one grant for each host.
const SERVICES = {
  web: "https://www.example.test/health",
  search: "https://search.example.test/health",
  mail: "https://mail.example.test:8443/health",
};

const checks = Object.entries(SERVICES).map(async ([name, url]) => {
  const response = await fetch(url, { method: "HEAD" });
  return [name, response.ok ? "up" : `down (${response.status})`];
});

return Object.fromEntries(await Promise.all(checks));
