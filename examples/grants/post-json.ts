// Posts JSON to a webhook: the grant is for POST alone.
const build = { project: "demo", number: 42, status: "passed" };

const response = await fetch("https://hooks.example.test/notify/builds", {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(build),
});

const { accepted }: { accepted: boolean } = await response.json();
return accepted ? "delivered" : "refused";
