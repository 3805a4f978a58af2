// Reads every page of a list: the page number is in the query, which grants do not look at.
interface Page {
  orders: { id: string; cents: number }[];
  pages: number;
}

let total = 0;
let pages = 1;
for (let page = 1; page <= pages; page++) {
  const response = await fetch(`https://api.shop.test/v2/orders?page=${page}&sort=id`);
  const body: Page = await response.json();
  pages = body.pages;
  total += body.orders.reduce((sum, order) => sum + order.cents, 0);
}
return { pages, total: total / 100 };
