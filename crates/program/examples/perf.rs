#![allow(warnings)]
use isolith_program::*;
use std::time::Instant;
fn main() {
    let small = r#"const users = await tools.list_users({ limit: 10 });
const active = users.filter((u) => u.active && u.age < 60);
function group(items, key) {
  const out = {};
  for (const item of items) {
    const k = item[key];
    if (!out[k]) out[k] = [];
    out[k].push(item);
  }
  return out;
}
const byTeam = group(active, "team");
const report = [];
for (const [team, members] of Object.entries(byTeam)) {
  const total = members.reduce((sum, m) => sum + m.score, 0);
  report.push({ team, count: members.length, average: total / members.length, best: members.map((m) => m.name).sort()[0] });
}
try {
  await tools.save({ report, at: new Date().toISOString() });
} catch (error) {
  console.error(`cannot save: ${error.message}`);
}
console.log("done", report.length);
return report.sort((a, b) => b.average - a.average);
"#;
    let ts = small.replace("function group(items, key)", "function group(items: any[], key: string): Record<string, any[]>").replace("const out = {}", "const out: Record<string, any[]> = {}");
    let body = small.replace("return report.sort", "report.sort");
    let wrap = |i: usize, s: &str| format!("async function part{i}() {{\n{}\n}}\n", s.replace("return report", "return report"));
    let big: String = (0..95).map(|i| wrap(i, small)).collect::<String>() + "return 1";
    let bigts: String = (0..95).map(|i| wrap(i, &ts)).collect::<String>() + "return 1";
    let module = format!("export default async function main(input) {{\n{small}\n}}");
    std::fs::write("/tmp/pf/big.js", &big).unwrap();
    for (name, src, lang) in [("return 1+1", "return 1+1".to_string(), Language::Auto), ("1 KB js", small.to_string(), Language::Auto), ("1 KB ts auto", ts.clone(), Language::Auto), ("1 KB ts", ts.clone(), Language::TypeScript), ("1 KB module", module, Language::Auto), ("100 KB js", big, Language::Auto), ("100 KB ts", bigts, Language::Auto)] {
        let n = if src.len() > 10000 { 60 } else { 3000 };
        let mut v: Vec<f64> = (0..n).map(|_| { let t = Instant::now(); std::hint::black_box(prepare(&src, "main.ts", lang).unwrap()); t.elapsed().as_secs_f64() * 1e6 }).collect();
        v.sort_by(f64::total_cmp);
        println!("{name:14} {:7} bytes  median {:9.1} us  p99 {:9.1}", src.len(), v[v.len()/2], v[v.len()*99/100]);
    }
}
