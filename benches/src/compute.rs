use crate::error::Error;
use crate::lab::{Lab, body};
use crate::report::Row;
use crate::sources::KERNELS;
use crate::stopwatch::Stopwatch;

/// What computing costs: each kernel in a fresh isolate.
pub(crate) async fn rows(lab: &Lab) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for kernel in KERNELS {
        let program = body(kernel.source);
        let samples = lab
            .effort()
            .sample(async || {
                let watch = Stopwatch::start();
                lab.value(&program).await?;
                Ok(watch.stop())
            })
            .await?;
        let what = format!("{}: {}", kernel.name, kernel.what);
        rows.push(Row::time(format!("compute.{}", kernel.name), what, &samples).in_ms());
    }
    Ok(rows)
}
