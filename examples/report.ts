// What agents do all day: read data, reshape it, give back what matters.
//   isolith run examples/report.ts --input examples/orders.json

type Order = { id: number; customer: string; cents: number; placed: string };

const orders: Order[] = input ?? [];
const byCustomer = Object.groupBy(orders, (order) => order.customer);
const euro = new Intl.NumberFormat("en-US", { style: "currency", currency: "EUR" });

const lines = Object.entries(byCustomer).map(([customer, list = []]) => {
  const cents = list.reduce((sum, order) => sum + order.cents, 0);
  const last = list.map((order) => order.placed).sort().at(-1);
  return { customer, orders: list.length, total: euro.format(cents / 100), last };
});

console.table(lines);
return lines.sort((a, b) => b.orders - a.orders);
