// Reads a secret and sends it along: only a grant that reveals it makes this possible.
const key: string = await secrets.get("REPORTS_KEY");

const response = await fetch("https://reports.example.test/v1/monthly", {
  headers: { authorization: `Bearer ${key}` },
});

const { month, visits }: { month: string; visits: number } = await response.json();
return `${visits} visits in ${month}`;
