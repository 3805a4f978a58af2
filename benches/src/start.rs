use crate::error::Error;
use crate::lab::{Lab, body};
use crate::report::{Goal, Row};
use crate::sources::TRIVIAL;
use crate::stopwatch::Stopwatch;
use std::sync::Arc;

/// What it costs to run a program that does nothing.
pub(crate) async fn rows(lab: &Lab) -> Result<Vec<Row>, Error> {
    let program = body(TRIVIAL);
    let engine = lab
        .effort()
        .sample(async || {
            let watch = Stopwatch::start();
            lab.value(&program).await?;
            Ok(watch.stop())
        })
        .await?;
    let runner = lab
        .effort()
        .sample(async || {
            let watch = Stopwatch::start();
            lab.run(TRIVIAL, &Arc::default()).await?;
            Ok(watch.stop())
        })
        .await?;
    Ok(vec![
        Row::time("start.engine", "fresh isolate, `return 1+1`, dropped", &engine).goal(Goal::AtMost(25.0)),
        Row::time("start.runner", "the same from source to outcome", &runner),
    ])
}
