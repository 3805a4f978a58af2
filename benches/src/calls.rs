use crate::error::Error;
use crate::lab::{Lab, body, echo, tools, turn};
use crate::report::{Goal, Row};
use crate::sources::{CALL_PAYLOADS, PARALLEL, Payload, calling};
use crate::stopwatch::{Samples, Stopwatch};
use isolith_core::{End, Step};
use std::time::Instant;

/// What it costs to call a tool that gives its argument back.
pub(crate) async fn rows(lab: &Lab) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for payload in CALL_PAYLOADS {
        let row = Row::time(
            format!("call.{}", payload.name),
            format!("{}, engine", payload.what),
            &bare(lab, payload).await?,
        );
        rows.push(with_goal(row, payload.name));
    }
    for payload in CALL_PAYLOADS {
        let id = format!("call.{}.runner", payload.name);
        let row = Row::time(id, format!("{}, whole runner", payload.what), &whole(lab, payload).await?);
        rows.push(with_goal(row, payload.name));
    }
    rows.extend(parallel(lab).await?);
    Ok(rows)
}

fn with_goal(row: Row, payload: &str) -> Row {
    match payload {
        "tiny" => row.goal(Goal::AtMost(5.0)),
        "rows_100k" | "text_100k" => row.goal(Goal::AtMost(1_000.0)),
        _ => row,
    }
}

/// One isolate that calls again and again: from the reply going in to the next call coming out.
async fn bare(lab: &Lab, payload: &Payload) -> Result<Samples, Error> {
    let grants = tools(&["echo"])?;
    let series = lab.effort().series;
    let program = body(calling(payload, u32::MAX));
    let mut isolate = lab.start(&program, &grants).await?;
    let mut step = isolate.advance(turn(Vec::new())).await?;
    let mut samples = Samples::default();
    let begun = Instant::now();
    while begun.elapsed() < series {
        let Step::Calls(calls) = step else { return Err(Error::wrong("a call", &step)) };
        let replies = calls.into_iter().map(echo).collect();
        let watch = Stopwatch::start();
        step = isolate.advance(turn(replies)).await?;
        let sample = watch.stop();
        if begun.elapsed() > series / 5 {
            samples.push(sample);
        }
    }
    Ok(samples)
}

/// A whole run with many calls, divided by their number.
async fn whole(lab: &Lab, payload: &Payload) -> Result<Samples, Error> {
    let grants = tools(&["echo"])?;
    let source = calling(payload, payload.count);
    let once = async || {
        let watch = Stopwatch::start();
        lab.run(&source, &grants).await?;
        Ok(watch.stop().each(payload.count.into()))
    };
    lab.effort().sample(once).await
}

async fn parallel(lab: &Lab) -> Result<Vec<Row>, Error> {
    let grants = tools(&["echo"])?;
    let program = body(PARALLEL);
    let bare = lab
        .effort()
        .sample(async || {
            let watch = Stopwatch::start();
            let mut isolate = lab.start(&program, &grants).await?;
            let mut step = isolate.advance(turn(Vec::new())).await?;
            while let Step::Calls(calls) = step {
                step = isolate.advance(turn(calls.into_iter().map(echo).collect())).await?;
            }
            match &step {
                Step::Done(End::Value(Some(json)), _) if json.text() == "true" => {}
                other => return Err(Error::wrong("calls at once", other)),
            }
            drop(isolate);
            Ok(watch.stop())
        })
        .await?;
    let whole = lab
        .effort()
        .sample(async || {
            let watch = Stopwatch::start();
            lab.run(PARALLEL, &grants).await?;
            Ok(watch.stop())
        })
        .await?;
    Ok(vec![
        Row::time("call.parallel", "1,000 calls in Promise.all, engine", &bare),
        Row::time("call.parallel.runner", "1,000 calls in Promise.all, whole runner", &whole),
    ])
}
