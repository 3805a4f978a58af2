//! The functions that the guest half (`js/`) calls. They take and give everything through the cell.

use super::digest;
use super::plain_url::plain_url;
use super::random::Random;
use super::told::{Program, Replies};
use crate::sys::{self, Compile, Exceeded, Scope};
use isolith_jail::EndKind;
use isolith_jail::frame::{self, Said, Told};
use isolith_jail::worker::{Line, leave};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// In the order in which the guest half names them.
pub(crate) const NATIVES: &[fn(&Scope)] = &[
    jobs,
    receive,
    reply,
    output,
    call,
    wait,
    end,
    randoms,
    random_bytes,
    encode,
    decode,
    hash,
    keyed_hash,
    peek,
    compile,
    run,
    import,
    url,
    ready,
];

/// What a worker has of its run. Natives take it for a moment only: running jobs calls other natives.
struct Run {
    line: Line,
    random: Random,
    replies: Replies,
    modules: BTreeMap<String, String>,
    payload_bytes: usize,
    value_bytes: usize,
    output_bytes: usize,
}

thread_local! {
    static RUN: RefCell<Option<Run>> = const { RefCell::new(None) };
}

/// Exit codes of a worker, for those who look.
const GONE: i32 = 3;
const BROKEN: i32 = 4;

/// Numbers of the call kinds, as the guest half has them.
const CALL_SLEEP: u8 = 1;
const CALL_READ_BODY: u8 = 2;
const CALL_GET: u8 = 4;

/// Gives the thread its line: natives can be called from here on.
pub(crate) fn begin(line: Line) {
    let run = Run {
        line,
        random: Random::new(&[0; 32]),
        replies: Replies::default(),
        modules: BTreeMap::new(),
        payload_bytes: 0,
        value_bytes: 0,
        output_bytes: 0,
    };
    RUN.with_borrow_mut(|held| *held = Some(run));
}

fn with<T>(work: impl FnOnce(&mut Run) -> T) -> T {
    RUN.with_borrow_mut(|run| match run {
        Some(run) => work(run),
        None => leave(BROKEN),
    })
}

/// A worker without a supervisor has nothing to live for.
fn or_gone<T>(result: std::io::Result<T>) -> T {
    result.unwrap_or_else(|_| leave(GONE))
}

fn jobs(scope: &Scope) {
    scope.run_jobs();
}

/// The next thing the supervisor says: a program, or a turn.
fn receive(scope: &Scope) {
    let (kind, content) = with(|run| or_gone(run.line.hear()));
    if kind == Told::Start as u8 {
        let Some(program) = Program::read(&content) else { leave(BROKEN) };
        program.limits.keep(out_of_memory);
        scope.put_number(1, program.now_us);
        scope.put_number(2, f64::from(program.form));
        scope.put_text(3, &program.name);
        scope.put_text(4, &program.code);
        scope.put_text(5, &program.granted);
        match &program.config {
            Some(config) => scope.put_text(6, config),
            None => scope.put_nothing(6),
        }
        with(|run| {
            run.random = Random::new(&program.seed);
            run.modules = program.modules;
            run.payload_bytes = program.limits.payload_bytes;
            run.value_bytes = program.limits.value_bytes;
            run.output_bytes = program.limits.output_bytes;
        });
        return;
    }
    let Some((now_us, replies)) = Replies::read(content) else { leave(BROKEN) };
    scope.put_number(1, now_us);
    with(|run| run.replies = replies);
}

/// The next reply of the turn; its id is negative when there is none.
fn reply(scope: &Scope) {
    with(|run| match run.replies.next() {
        Some(reply) => reply.put(scope),
        None => scope.put_number(0, -1.0),
    });
}

fn output(scope: &Scope) {
    let stream = scope.number(0).unwrap_or(0.0) as u8;
    with(|run| {
        // One byte more than is allowed tells that there was more.
        let text = scope.text_prefix(1, run.output_bytes.saturating_add(4));
        run.line.say(Said::Output, |out| {
            out.push(stream);
            out.extend(&text);
        });
        or_gone(run.line.send_some());
    });
}

/// A host call: id, kind, and what its kind has. Slot 0 is then 0, or 1 when it is too large.
fn call(scope: &Scope) {
    let id = scope.number(0).unwrap_or(0.0) as u32;
    let kind = scope.number(1).unwrap_or(0.0) as u8;
    let fits = with(|run| {
        let most = run.payload_bytes;
        let (text, bytes) = match kind {
            CALL_SLEEP | CALL_READ_BODY => (None, None),
            _ => {
                let Ok(text) = scope.text_within(3, most) else { return false };
                if text.as_ref().map_or(0, String::len) + scope.byte_count(4) + 4 > most.saturating_add(4) {
                    return false;
                }
                (text, scope.bytes(4))
            }
        };
        let name = scope.text(2).unwrap_or_default();
        run.line.say(Said::Call, |out| {
            frame::put_u32(out, id);
            out.push(kind);
            match kind {
                CALL_SLEEP => frame::put_f64(out, scope.number(2).unwrap_or(0.0)),
                CALL_READ_BODY => {
                    frame::put_u32(out, scope.number(2).unwrap_or(0.0) as u32);
                    frame::put_u32(out, scope.number(3).unwrap_or(0.0) as u32);
                }
                CALL_GET => {
                    frame::put_u32(out, scope.number(2).unwrap_or(0.0) as u32);
                    frame::put_optional(out, text.as_deref());
                }
                _ => {
                    frame::put_bytes(out, name.as_bytes());
                    frame::put_optional(out, text.as_deref());
                    frame::put_bytes(out, bytes.as_deref().unwrap_or_default());
                }
            }
        });
        or_gone(run.line.send_some());
        true
    });
    scope.put_number(0, if fits { 0.0 } else { 1.0 });
}

/// Says that nothing is left to do until the host replies.
fn wait(_: &Scope) {
    let (exceeded, memory) = sys::memory_used();
    if exceeded {
        end_with(EndKind::Memory, |_| ());
        leave(0);
    }
    with(|run| or_gone(run.line.wait(memory as u64)));
}

/// How the run ended: a kind, and a value or four texts.
fn end(scope: &Scope) {
    if let (true, _) = sys::memory_used() {
        return end_with(EndKind::Memory, |_| ());
    }
    let Some(kind) = scope.number(0).and_then(|kind| EndKind::from_number(kind as u8)) else { leave(BROKEN) };
    match kind {
        EndKind::Value => {
            let most = with(|run| run.value_bytes);
            match scope.text_within(1, most) {
                Ok(value) => end_with(kind, |out| out.extend(value.unwrap_or_default().as_bytes())),
                Err(_) => end_with(EndKind::ValueTooLarge, |_| ()),
            }
        }
        EndKind::Thrown | EndKind::Syntax | EndKind::Stack => {
            let texts = [1, 2, 3, 4].map(|slot| scope.text(slot));
            end_with(kind, |out| texts.iter().for_each(|text| frame::put_optional(out, text.as_deref())));
        }
        _ => end_with(kind, |_| ()),
    }
}

/// Says how the run ended, by itself or by a limit.
pub(crate) fn end_with(kind: EndKind, write: impl FnOnce(&mut Vec<u8>)) {
    let (_, memory) = sys::memory_used();
    with(|run| or_gone(run.line.end(kind, memory as u64, write)));
}

/// V8 has given up: there is no going back into it.
fn out_of_memory(exceeded: Exceeded) {
    let kind = if exceeded == Exceeded::Memory { EndKind::Memory } else { EndKind::Failed };
    let last_word = |line: &mut Line| line.end(kind, 0, |_| ());
    let _ = RUN.with(|run| match run.try_borrow_mut().as_deref_mut() {
        Ok(Some(run)) => last_word(&mut run.line),
        // It happened while a native had the line.
        _ => last_word(&mut Line::again()),
    });
    leave(0);
}

fn randoms(scope: &Scope) {
    let count = scope.number(0).unwrap_or(0.0) as usize;
    let mut bytes = Vec::with_capacity(count * 8);
    with(|run| (0..count).for_each(|_| bytes.extend(run.random.number().to_le_bytes())));
    scope.put_bytes(0, &bytes);
}

fn random_bytes(scope: &Scope) {
    let mut bytes = vec![0; scope.number(0).unwrap_or(0.0) as usize];
    with(|run| run.random.fill(&mut bytes));
    scope.put_bytes(0, &bytes);
}

fn encode(scope: &Scope) {
    scope.put_bytes(0, scope.text(0).unwrap_or_default().as_bytes());
}

/// Slot 0 is then the text, or nothing when it is fatal that there is none.
fn decode(scope: &Scope) {
    let bytes = scope.bytes(0).unwrap_or_default();
    let (fatal, skip_mark) = (scope.number(1) == Some(1.0), scope.number(2) == Some(1.0));
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").filter(|_| skip_mark).unwrap_or(&bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => scope.put_text(0, text),
        Err(_) if fatal => scope.put_nothing(0),
        Err(_) => scope.put_text(0, &String::from_utf8_lossy(bytes)),
    }
}

fn hash(scope: &Scope) {
    let (name, bytes) = (scope.text(0).unwrap_or_default(), scope.bytes(1).unwrap_or_default());
    scope.put_bytes(0, &digest::digest(&name, &[&bytes]).unwrap_or_default());
}

fn keyed_hash(scope: &Scope) {
    let name = scope.text(0).unwrap_or_default();
    let (key, bytes) = (scope.bytes(1).unwrap_or_default(), scope.bytes(2).unwrap_or_default());
    scope.put_bytes(0, &digest::hmac(&name, &key, &bytes).unwrap_or_default());
}

/// Looks into the promise (0) or the proxy (1) of slot 1: slot 0 is then its state, or -1.
fn peek(scope: &Scope) {
    let state = match scope.number(0) {
        Some(0.0) => scope.peek_promise(1).map(f64::from),
        _ => scope.peek_proxy(1).map(|revoked| if revoked { 0.0 } else { 1.0 }),
    };
    scope.put_number(0, state.unwrap_or(-1.0));
}

/// Compiles a program: name, code and form. Throws what is wrong with it.
fn compile(scope: &Scope) {
    let (name, code) = (scope.text(0).unwrap_or_default(), scope.text(1).unwrap_or_default());
    // What comes before there is a run is the prelude.
    let when = if RUN.with_borrow(Option::is_some) { Compile::Lazily } else { Compile::AllAtOnce };
    match scope.number(2) {
        // The code was checked to be a whole function body; it starts on a line of its own so that lines count right.
        Some(0.0) => scope.prepare_script(&name, &format!("(async function(){{\n{code}\n}})"), -1, when),
        Some(1.0) => scope.prepare_script(&name, &code, 0, when),
        _ => scope.prepare_module(&name, &code),
    }
}

fn run(scope: &Scope) {
    scope.run_prepared();
}

fn import(scope: &Scope) {
    scope.import(&scope.text(0).unwrap_or_default(), &scope.text(1).unwrap_or_default());
}

fn url(scope: &Scope) {
    scope.put_number(0, plain_url(&scope.text(0).unwrap_or_default()) as f64);
}

/// Says that a program can come.
fn ready(_: &Scope) {
    with(|run| or_gone(run.line.ready()));
}

/// The source of a module that came along with the program.
pub(crate) fn module(name: &str) -> Option<String> {
    with(|run| run.modules.get(name).cloned())
}
