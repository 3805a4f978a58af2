// Objects: what a program does with the rows a tool gave it: enrich, filter, group, sort, and through JSON and back.
const cities = ["Oslo", "Lima", "Cairo", "Quito", "Hanoi", "Porto", "Accra"];
let state = 12345;
const random = () => (state = (state * 1103515245 + 12345) % 2147483648);

const orders = Array.from({ length: 6000 }, (_, id) => ({
  id,
  customer: `customer ${random() % 400}`,
  city: cities[random() % cities.length],
  items: [{ sku: `A${random() % 50}`, price: (random() % 10000) / 100, count: 1 + (random() % 5) }],
}));

const enriched = orders
  .map((order) => ({ ...order, total: order.items.reduce((sum, item) => sum + item.price * item.count, 0) }))
  .filter((order) => order.total > 20);
const byCustomer = new Map();
for (const { customer, total, city } of enriched) {
  const entry = byCustomer.get(customer) ?? { customer, total: 0, count: 0, cities: new Set() };
  entry.total += total;
  entry.count += 1;
  entry.cities.add(city);
  byCustomer.set(customer, entry);
}
const ranked = [...byCustomer.values()].sort((a, b) => b.total - a.total || (a.customer < b.customer ? -1 : 1));
const sorted = [...enriched].sort((a, b) => (a.city < b.city ? -1 : a.city > b.city ? 1 : b.total - a.total || a.id - b.id));
const copy = JSON.parse(JSON.stringify(sorted));
return [copy.length, copy[0].id, copy.at(-1).id, ranked[0].customer, Math.round(ranked[0].total * 100), ranked[0].cities.size];
