// Picks one of many hosts below a domain: only the beginning of the host is unknown.
interface Index {
  packages: string[];
}

const region: string = (await kv.settings.get("region")) ?? "eu";
const response = await fetch(`https://${region}.mirror.test/v3/index.json`);

const { packages }: Index = await response.json();
return { region, packages: packages.length };
