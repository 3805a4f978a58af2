#![allow(missing_docs, clippy::all, clippy::unwrap_used, clippy::print_stdout, clippy::expect_used, clippy::panic)]
use isolith_runner::*;
use isolith_testing::*;
use std::sync::Arc;
use std::time::*;
fn main() {
    let rt = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let runner = Runner::new(engines().unwrap().remove(0));
    let go = |text: &str| {
        let case = Case::parse("x/x.js", text).unwrap();
        let f = Arc::new(Fixtures::new(case.header.tools.iter().copied()));
        let peak = Peak::watch().unwrap();
        let t = Instant::now();
        let o = rt.block_on(async {
            let (r, p, f) = (runner.clone(), case.plan().unwrap(), f.clone());
            tokio::spawn(async move { run(&r, p, &f).await }).await.unwrap()
        });
        let grown = peak.grown_bytes() >> 20;
        match o {
            Ok(o) => println!(
                "{:?} {:?} {} outputs={} rss+{grown}MiB {:?}\n   <= {}",
                o.status,
                o.error.map(|e| (e.kind, e.name, e.message, e.line)),
                o.value.map_or("".into(), |v| v.text().chars().take(200).collect::<String>()),
                o.outputs.len(),
                t.elapsed(),
                text.chars().take(150).collect::<String>()
            ),
            Err(e) => println!("ERR {e} {text}"),
        }
        std::thread::sleep(Duration::from_millis(20));
        f.late()
    };
    for path in std::env::args().skip(1) {
        for part in std::fs::read_to_string(path).unwrap().split("\n====\n") {
            let late = go(&format!("{part}\n//> value: 1\n"));
            if late != Late::default() {
                println!("LATE {late:?}");
            }
        }
    }
    if std::env::var("RACE").is_ok() {
        let mut late = 0;
        for i in 0..3000 {
            let case = Case::parse("x/x.js", &format!("//! tools=[\"slow\"]\n//! limits = {{ wall_ms = {} }}\nfor (;;) await Promise.all([1,1,1,1,2,2,3].map(ms => tools.slow({{ms}})));\n//> value: 1\n", 3 + i % 4)).unwrap();
            let f = Arc::new(Fixtures::new(case.header.tools.iter().copied()));
            let (r, p, f2) = (runner.clone(), case.plan().unwrap(), f.clone());
            let _ = rt.block_on(async { tokio::spawn(async move { run(&r, p, &f2).await }).await.unwrap() });
            std::thread::sleep(Duration::from_millis(1));
            if f.late() != Late::default() {
                late += 1;
            }
        }
        println!("late in {late} of 3000");
    }
}
