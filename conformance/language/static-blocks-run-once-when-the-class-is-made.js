class Config {
  static values = [];
  static { for (const x of [1, 2]) Config.values.push(x * 10); }
  get total() { return Config.values.reduce((a, b) => a + b); }
  set total(n) { Config.values = [n]; }
}
const c = new Config();
const before = c.total;
c.total = 5;
return [before, c.total];
//> value: [30,5]
