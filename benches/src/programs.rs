use crate::error::Error;
use crate::lab::{Lab, body};
use crate::report::Row;
use crate::sources::program_of;
use crate::stopwatch::Stopwatch;
use isolith_program::prepare;
use isolith_runner::Language;

/// What it costs to prepare and to run programs of a size.
pub(crate) async fn rows(lab: &Lab) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for (name, bytes, what) in [("1k", 1_000, "1 KB"), ("10k", 10_000, "10 KB"), ("100k", 100_000, "100 KB")] {
        let source = program_of(bytes);
        let prepared = lab
            .effort()
            .sample(async || {
                let watch = Stopwatch::start();
                prepare(&source, "bench.ts", Language::Auto)?;
                Ok(watch.stop())
            })
            .await?;
        let code = prepare(&source, "bench.ts", Language::Auto)?.program().code.clone();
        let program = body(code);
        let run = lab
            .effort()
            .sample(async || {
                let watch = Stopwatch::start();
                lab.value(&program).await?;
                Ok(watch.stop())
            })
            .await?;
        rows.push(Row::time(format!("program.{name}.prepare"), format!("{what} of TypeScript: prepare"), &prepared));
        rows.push(Row::time(format!("program.{name}.run"), format!("{what} of TypeScript: run"), &run));
    }
    Ok(rows)
}
