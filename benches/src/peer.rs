use crate::batches::{Moment, batches};
use crate::error::Error;
use crate::idle;
use crate::job::{Job, Line, Measured, Times};
use crate::lab::{Lab, body, tools};
use crate::on::On;
use crate::options::Mode;
use crate::ratio::ratio;
use isolith_core::Json;
use std::sync::Arc;

/// How many isolates a peer needs at one time when it is not asked for memory.
const LIVE: u32 = 10;

/// Does a job as the peer `isolith`, and says each measurement as soon as it is there.
pub fn peer(job: &Job, on: On, say: &mut dyn FnMut(&str)) -> Result<(), Error> {
    let runtime = crate::measure::runtime()?;
    runtime.block_on(async {
        let mut line = |id: &str, measured: Measured, check: Option<String>| {
            let line = Line { id: id.into(), measured, check };
            // Plain data of ours always has a JSON form.
            say(&serde_json::to_string(&line).unwrap_or_default());
        };
        match job {
            Job::Fresh { ms, source } => {
                let lab = Lab::on(on.engine(LIVE)?, Mode::Quick);
                let program = body(source.as_str());
                let bare = batches(*ms, 1, async || expect(&lab.value(&program).await?, "2")).await?;
                line("fresh", Measured::Times(bare), None);
                let whole = batches(*ms, 1, async || expect(&lab.run(source, &Arc::default()).await?, "2")).await?;
                line("fresh.source", Measured::Times(whole), None);
            }
            Job::Calls { ms, programs } => {
                let lab = Lab::on(on.engine(LIVE)?, Mode::Quick);
                let grants = tools(&["echo"])?;
                for work in programs {
                    let once = async || expect(&lab.run(&work.source, &grants).await?, "\"done\"");
                    line(&work.id, Measured::Times(batches(*ms, work.count, once).await?), None);
                }
            }
            Job::Kernels { programs } => {
                let lab = Lab::on(on.engine(LIVE)?, Mode::Quick);
                for work in programs {
                    let (times, json) = once(&lab, &work.source).await?;
                    line(&work.id, Measured::Times(times), Some(json.text().to_owned()));
                }
            }
            Job::Ratios { ms, source, programs } => {
                let [auto, quickjs] = On::auto_and_first(LIVE)?.map(|engine| Lab::on(engine, Mode::Quick));
                let program = body(source.as_str());
                let fresh = async |lab: &Lab| expect(&lab.value(&program).await?, "2");
                let ratio_of = ratio(*ms, async || fresh(&auto).await, async || fresh(&quickjs).await);
                line("fresh", Measured::Ratio { ratio: ratio_of.await? }, None);
                let grants = tools(&["echo"])?;
                for work in programs {
                    let calls = async |lab: &Lab| expect(&lab.run(&work.source, &grants).await?, "\"done\"");
                    let ratio_of = ratio(*ms, async || calls(&auto).await, async || calls(&quickjs).await);
                    line(&work.id, Measured::Ratio { ratio: ratio_of.await? }, None);
                }
            }
            Job::Memory { count, source } => {
                line("memory", Measured::Memory(idle::memory(*count, source).await?), None); // on `quickjs`: others have processes
            }
            Job::Hello { source } => {
                let json = Lab::on(on.engine(1)?, Mode::Quick).run(source, &Arc::default()).await?;
                let text = json.parse::<String>().map_err(|_| unexpected(&json))?;
                say(&text);
            }
        }
        Ok(())
    })
}

async fn once(lab: &Lab, source: &str) -> Result<(Times, Json), Error> {
    let moment = Moment::now();
    let json = lab.value(&body(source)).await?;
    Ok((moment.each(1), json))
}

fn expect(json: &Json, text: &str) -> Result<(), Error> {
    if json.text() == text { Ok(()) } else { Err(unexpected(json)) }
}

fn unexpected(json: &Json) -> Error {
    Error::Wrong { what: "a peer", found: json.text().chars().take(300).collect() }
}
