//! tools = ["echo"]
async function* pages() { for (const page of [1, 2, 3]) yield await tools.echo({ page }); }
const seen = [];
for await (const { page } of pages()) seen.push(page);
return seen;
//> value: [1,2,3]
