use crate::Tool;
use isolith_core::{
    Answer, BodyId, BoxFuture, CallId, Host, HostCall, HostReply, Json, MAX_READ_BYTES, ToolName, ToolPattern,
};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::future::{pending, ready};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The largest text `big` makes and the largest body `body` holds, whatever a program asks for.
const SIZE_BYTES_MAX: u64 = 64 << 20;
/// The longest `slow` waits, whatever a program asks for.
const SLOW_MS_MAX: u64 = 60_000;
/// What a program could trip over if a reply were evaluated or merged instead of read.
const PROTO: &str = r#"{"ok":1,"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted2":true}}}"#;

/// The host of one run: performs the tools of [`Tool`] that were granted, and keeps count of what really happened.
pub struct Fixtures {
    granted: BTreeSet<Tool>,
    namespaces: Vec<ToolPattern>,
    count: AtomicU32,
    bodies: Mutex<BTreeMap<BodyId, u64>>,
    performed: AtomicU32,
    refused: AtomicU32,
    over: AtomicBool,
    began_late: AtomicU32,
    finished_late: AtomicU32,
}

/// What happened after a run was declared over. All zero, or the runtime lets programs outlive their result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Late {
    /// Calls that reached the host.
    pub began: u32,
    /// Calls that went on being performed and came to their end.
    pub finished: u32,
}

#[derive(Deserialize)]
struct Slow {
    ms: f64,
}

#[derive(Deserialize)]
struct Size {
    bytes: f64,
}

impl Fixtures {
    /// A host for one run that was granted these tools.
    pub fn new(granted: impl IntoIterator<Item = Tool>) -> Fixtures {
        Fixtures {
            granted: granted.into_iter().collect(),
            namespaces: Vec::new(),
            count: AtomicU32::new(0),
            bodies: Mutex::new(BTreeMap::new()),
            performed: AtomicU32::new(0),
            refused: AtomicU32::new(0),
            over: AtomicBool::new(false),
            began_late: AtomicU32::new(0),
            finished_late: AtomicU32::new(0),
        }
    }

    /// The same with tools of namespaces: `n.echo` does what `echo` does, and `tools.search` gives back what it was asked.
    pub fn with_namespaces(mut self, patterns: impl IntoIterator<Item = ToolPattern>) -> Fixtures {
        self.namespaces.extend(patterns);
        self
    }

    /// The tool of that name, if it is granted.
    fn granted(&self, name: &ToolName) -> Option<Tool> {
        if name.is_reserved() {
            return Some(Tool::Echo).filter(|_| !self.namespaces.is_empty());
        }
        let covered = || self.namespaces.iter().any(|pattern| pattern.covers(name));
        let tool = Tool::named(name.function())?;
        let ok = if name.namespace().is_some() { covered() } else { self.granted.contains(&tool) };
        ok.then_some(tool)
    }

    /// How many tool calls reached the host, refused ones included.
    pub fn performed(&self) -> u32 {
        self.performed.load(SeqCst)
    }

    /// How many calls came for tools that were not granted. A guest has no way to make one.
    pub fn refused(&self) -> u32 {
        self.refused.load(SeqCst)
    }

    /// Says that the run has its result: from here on everything is late.
    pub fn close(&self) {
        self.over.store(true, SeqCst);
    }

    /// What happened since [`close`](Fixtures::close).
    pub fn late(&self) -> Late {
        Late { began: self.began_late.load(SeqCst), finished: self.finished_late.load(SeqCst) }
    }

    fn bodies(&self) -> MutexGuard<'_, BTreeMap<BodyId, u64>> {
        self.bodies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tool(&self, name: &ToolName, args: Option<Json>) -> BoxFuture<'_, HostReply> {
        match self.granted(name) {
            Some(Tool::Echo) => now(value(args)),
            Some(Tool::Fail) => now(HostReply::failed("Error", message(args.as_ref()))),
            Some(Tool::Hang) => Box::pin(pending()),
            Some(Tool::Slow) => {
                let wait = argument(args.as_ref()).map_or(0.0, |Slow { ms }| ms);
                Box::pin(async move {
                    tokio::time::sleep(Duration::from_millis(bounded(wait, SLOW_MS_MAX))).await;
                    value(None)
                })
            }
            Some(Tool::Big) => {
                let bytes = argument(args.as_ref()).map_or(0.0, |Size { bytes }| bytes);
                now(text(format!("\"{}\"", "x".repeat(bounded(bytes, SIZE_BYTES_MAX) as usize))))
            }
            Some(Tool::Inc) => now(text((self.count.fetch_add(1, SeqCst) + 1).to_string())),
            Some(Tool::Proto) => now(text(PROTO.into())),
            Some(Tool::Nul) => now(text("\"a\\u0000b\"".into())),
            Some(Tool::Body) => {
                let bytes = argument(args.as_ref()).map_or(0.0, |Size { bytes }| bytes);
                now(self.make_body(bounded(bytes, SIZE_BYTES_MAX)))
            }
            None => {
                self.refused.fetch_add(1, SeqCst);
                now(HostReply::failed("Error", format!("tool `{name}` is not granted")))
            }
        }
    }

    fn make_body(&self, bytes: u64) -> HostReply {
        let mut bodies = self.bodies();
        let body = BodyId(bodies.len() as u32);
        bodies.insert(body, bytes);
        HostReply::Body { body, length: Some(bytes) }
    }

    fn read_body(&self, body: BodyId, most_bytes: u32) -> HostReply {
        match self.bodies().get_mut(&body) {
            Some(left) => {
                let next = (*left).min(most_bytes.min(MAX_READ_BYTES).into());
                *left -= next;
                HostReply::Bytes { bytes: vec![b'x'; next as usize] }
            }
            None => HostReply::failed("Error", "there is no such body"),
        }
    }
}

impl Host for Fixtures {
    fn call(&self, _: CallId, call: HostCall) -> BoxFuture<'_, Answer> {
        if self.over.load(SeqCst) {
            self.began_late.fetch_add(1, SeqCst);
        }
        let reply = match call {
            HostCall::Tool { name, args } => {
                self.performed.fetch_add(1, SeqCst);
                self.tool(&name, args)
            }
            HostCall::ReadBody { body, most_bytes } => now(self.read_body(body, most_bytes)),
            _ => now(HostReply::failed("Error", "only tools are granted here")),
        };
        Box::pin(async move {
            let reply = reply.await;
            if self.over.load(SeqCst) {
                self.finished_late.fetch_add(1, SeqCst);
            }
            reply.into()
        })
    }
}

fn now(reply: HostReply) -> BoxFuture<'static, HostReply> {
    Box::pin(ready(reply))
}

fn value(json: Option<Json>) -> HostReply {
    HostReply::Value { json }
}

fn text(json: String) -> HostReply {
    match Json::from_text(json) {
        Ok(json) => value(Some(json)),
        Err(error) => HostReply::failed("Error", error.to_string()),
    }
}

fn argument<'a, T: Deserialize<'a>>(args: Option<&'a Json>) -> Option<T> {
    args?.parse().ok()
}

/// The message `fail` was asked to fail with; the argument's text where it is no string.
fn message(args: Option<&Json>) -> String {
    argument::<String>(args).or_else(|| args.map(|json| json.text().to_owned())).unwrap_or_else(|| "undefined".into())
}

/// A whole number from what a program sent: nothing below zero, nothing above `most`.
fn bounded(number: f64, most: u64) -> u64 {
    (number.max(0.0) as u64).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::{Context, Poll, Waker};

    fn call(host: &Fixtures, tool: &str, args: Option<&str>) -> Option<HostReply> {
        let name = ToolName::new(tool).ok()?;
        let args = args.and_then(|text| Json::from_text(text.into()).ok());
        poll(host, HostCall::Tool { name, args })
    }

    fn poll(host: &Fixtures, call: HostCall) -> Option<HostReply> {
        match host.call(CallId(0), call).as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(answer) => Some(answer.reply),
            Poll::Pending => None,
        }
    }

    fn json(text: &str) -> Option<HostReply> {
        Some(value(Json::from_text(text.into()).ok()))
    }

    #[test]
    fn each_tool_does_what_the_suites_say() {
        let host = Fixtures::new(Tool::ALL);
        assert_eq!(call(&host, "echo", Some(r#"{"a":[1,"\ud800"]}"#)), json(r#"{"a":[1,"\ud800"]}"#));
        assert_eq!(call(&host, "echo", None), Some(value(None)));
        assert_eq!(call(&host, "fail", Some(r#""no""#)), Some(HostReply::failed("Error", "no")));
        assert_eq!(call(&host, "hang", None), None);
        assert_eq!(call(&host, "big", Some(r#"{"bytes":3}"#)), json("\"xxx\""));
        assert_eq!(call(&host, "inc", None), json("1"));
        assert_eq!(call(&host, "inc", Some("1")), json("2"));
        assert_eq!(call(&host, "nul", None), json(r#""a\u0000b""#));
        assert_eq!(call(&host, "proto", None), json(PROTO));
        assert_eq!(host.performed(), 9);
    }

    #[test]
    fn a_body_is_read_to_its_end_and_bounded_reads_are_kept() {
        let host = Fixtures::new([Tool::Body]);
        let body = BodyId(0);
        assert_eq!(call(&host, "body", Some(r#"{"bytes":5}"#)), Some(HostReply::Body { body, length: Some(5) }));
        let read = |most_bytes| poll(&host, HostCall::ReadBody { body, most_bytes });
        let bytes = |n| Some(HostReply::Bytes { bytes: vec![b'x'; n] });
        assert_eq!((read(3), read(3), read(3)), (bytes(3), bytes(2), bytes(0)));
        assert!(matches!(
            poll(&host, HostCall::ReadBody { body: BodyId(7), most_bytes: 1 }),
            Some(HostReply::Failed { .. })
        ));
    }

    #[test]
    fn sizes_of_a_stranger_are_bounded() {
        assert_eq!([-1.0, f64::NAN, 7.9, 1e300].map(|n| bounded(n, 100)), [0, 0, 7, 100]);
    }

    #[test]
    fn what_was_not_granted_is_refused_and_counted() {
        let host = Fixtures::new([Tool::Echo]);
        assert!(matches!(call(&host, "inc", None), Some(HostReply::Failed { .. })));
        assert_eq!((host.refused(), host.performed()), (1, 1));
    }

    #[test]
    fn what_happens_after_the_end_is_late() {
        let host = Fixtures::new([Tool::Inc]);
        call(&host, "inc", None);
        assert_eq!(host.late(), Late::default());
        host.close();
        call(&host, "inc", None);
        assert_eq!(host.late(), Late { began: 1, finished: 1 });
    }
}
