// Follows a redirect: every hop is admitted again, and this one stays below the granted path.
const response = await fetch("https://links.example.test/go/manual");

console.log(response.redirected ? `went on to ${response.url}` : "came straight here");
return (await response.text()).trim();
