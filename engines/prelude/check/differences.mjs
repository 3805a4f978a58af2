// Where the prelude deliberately differs from Node 20, and why. A listed case must differ, or the check fails.
const rows = [];
export const differences = new Map(rows.flatMap(([reason, cases]) => cases.map((name) => [name, reason])));
