use crate::error::Error;
use crate::lab::{Idle, Lab, body, tools, turn};
use crate::report::{Goal, Row, thousands};
use crate::sources::{IDLE, IDLE_ROWS};
use crate::stopwatch::{Sample, Samples, Stopwatch};
use isolith_core::{CallId, End, Grant, HostReply, Json, Program, Step, Suspended};

/// What it costs to take a waiting run out of memory and to bring it back.
pub(crate) async fn rows(lab: &Lab) -> Result<Vec<Row>, Error> {
    let small = both(lab, IDLE).await?;
    let large = both(lab, IDLE_ROWS).await?;
    Ok(vec![
        Row::time("suspend.small", "small run: suspend", &small.suspend).goal(Goal::AtMost(100.0)),
        Row::time("suspend.small.resume", "small run: resume", &small.resume).goal(Goal::AtMost(50.0)),
        kib("suspend.small.size", "small run: size", small.bytes).goal(Goal::AtMost(64.0)),
        Row::time("suspend.rows", "2,000 rows: suspend", &large.suspend),
        Row::time("suspend.rows.resume", "2,000 rows: resume", &large.resume),
        kib("suspend.rows.size", "2,000 rows: size", large.bytes),
    ])
}

/// What a suspended run takes, on average over this many different ones.
pub(crate) async fn stored(lab: &Lab, count: u32) -> Result<Row, Error> {
    let grants = tools(&["first", "second"])?;
    let mut all = Vec::new();
    for n in 0..count {
        let program = body(format!("const order = {n}; {IDLE}"));
        all.push(lab.idle(&program, &grants).await?.isolate.suspend().await?);
    }
    let bytes: usize = all.iter().map(|suspended| suspended.0.len()).sum();
    let what = format!("suspended run, average of {}", thousands(count.into()));
    Ok(kib(&format!("memory.suspended.{count}"), &what, bytes / all.len().max(1)).goal(Goal::AtMost(64.0)))
}

fn kib(id: &str, what: &str, bytes: usize) -> Row {
    Row::new(id, what, bytes as f64 / 1024.0, "KiB")
}

struct Both {
    suspend: Samples,
    resume: Samples,
    bytes: usize,
}

async fn both(lab: &Lab, code: &str) -> Result<Both, Error> {
    let grants = tools(&["first", "second"])?;
    let program = body(code);
    let mut resume = Samples::default();
    let mut bytes = 0;
    let suspend = lab
        .effort()
        .sample(async || {
            let out = out(lab, &program, &grants).await?;
            bytes = out.suspended.0.len();
            resume.push(back(lab, &out.suspended, out.waits_for).await?);
            Ok(out.sample)
        })
        .await?;
    Ok(Both { suspend, resume, bytes })
}

struct Out {
    suspended: Suspended,
    waits_for: CallId,
    sample: Sample,
}

async fn out(lab: &Lab, program: &Program, grants: &[Grant]) -> Result<Out, Error> {
    let Idle { mut isolate, waits_for } = lab.idle(program, grants).await?;
    let watch = Stopwatch::start();
    let suspended = isolate.suspend().await?;
    Ok(Out { suspended, waits_for, sample: watch.stop() })
}

/// Brings a run back, and checks that it goes on.
async fn back(lab: &Lab, suspended: &Suspended, waits_for: CallId) -> Result<Sample, Error> {
    let watch = Stopwatch::start();
    let mut isolate = lab.resume(suspended).await?;
    let sample = watch.stop();
    let reply = (waits_for, HostReply::Value { json: Some(Json::null()) });
    match isolate.advance(turn(vec![reply])).await? {
        Step::Done(End::Value(Some(_)), _) => Ok(sample),
        Step::Calls(calls) if calls.len() == 1 => Ok(sample),
        other => Err(Error::wrong("a resumed run", &other)),
    }
}
