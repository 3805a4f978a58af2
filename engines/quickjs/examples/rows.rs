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
        for (kind, size) in [("rows", 100usize<<10)] {
            let n = if size > 10_000 { 3000 } else { 2_000 };
            let code = format!("const mk = b => {{ const a = []; for (let i = 0; i * 60 < b; i++) a.push({{ id: i, name: 'name ' + i, value: i * 1.5, tag: 'xxxxxxxxxx' }}); return a; }};
                 const arg = '{kind}' === 'text' ? 'lorem ipsum '.repeat({size} / 12) : mk({size}); for (let k = 0; k < {n}; k++) {{ const r = await tools.echo(arg); if (r.length !== arg.length) throw 1; }} return 'ok'");
            let p = Program::new("m", code, Form::Body);
            let mut s = start(&["echo"]); s.limits.calls = 1_000_000;
            let mut i = q.start(&p, s).await.unwrap();
            let mut step = i.advance(turn(vec![])).await.unwrap();
            let mut v = vec![]; let mut bytes = 0;
            loop { match step {
                Step::Calls(mut c) => { let c = c.remove(0); let HostCall::Tool { args, .. } = c.call else { panic!() }; bytes = args.as_ref().map_or(0, |j| j.text().len());
                    let t = cpu(); step = i.advance(turn(vec![(c.id, HostReply::Value { json: args })])).await.unwrap(); v.push(cpu() - t); }
                s => { assert!(matches!(s, Step::Done(End::Value(Some(_)), _)), "{s:?}"); break } } }
            println!("{kind} {bytes} B: {:.1} us", med(v));
        }
    });
}
