use isolith_core::*;
use isolith_quickjs::*;
use std::sync::Arc;
use std::time::*;
struct S;
impl OutputSink for S { fn write(&self, s: Stream, t: String, _: Timestamp) { println!("{s:?}: {t}"); } }
fn start(tools: &[&str]) -> Start { Start { limits: Limits::default(), grants: tools.iter().map(|t| Grant::Tool{name: BindingName::new(*t).unwrap()}).collect(), input: None, args: vec![], seed: Seed([7;32]), sink: Arc::new(S) } }
fn turn(replies: Vec<(CallId, HostReply)>) -> Turn { Turn { now: Timestamp::from_micros(1_700_000_000_000_000), wall_left: Duration::from_secs(30), replies } }
fn cpu() -> u64 { let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime); t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64 }
fn med(mut v: Vec<u64>) -> f64 { v.sort(); v[v.len()/2] as f64 / 1e3 }
fn main() {
    let t = Instant::now();
    let q = QuickJs::new(Options { live: 1000, ..Options::default() }).unwrap();
    println!("load {:?}", t.elapsed());
    let rt = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    rt.block_on(async {
        let p = Program::new("main.ts", "return 1+1", Form::Body);
        for _ in 0..12 {
            let mut v = vec![];
            for _ in 0..5000 {
                let t = cpu();
                let mut i = q.start(&p, start(&[])).await.unwrap();
                let r = i.advance(turn(vec![])).await.unwrap();
                assert!(matches!(r, Step::Done(End::Value(Some(_)), _)));
                drop(i);
                v.push(cpu() - t);
            }
            println!("fresh+run+drop {:.1} us", med(v));
        }
    });
}
