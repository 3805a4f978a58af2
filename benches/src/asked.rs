//! What a call costs that someone agrees to first, or that another performs; and what a run costs that is written down. Each beside the
//! plain one, in turns: what disturbs one disturbs the other.

use crate::error::Error;
use crate::gate::{granted, wrong};
use crate::lab::Lab;
use crate::report::Row;
use crate::sources::{CALL_PAYLOADS, Payload, calling};
use crate::stopwatch::{Sample, Samples, Stopwatch};
use isolith_core::{BoxFuture, CallError, Consent, Digest, Grant, Host, Json, Limits, Rule, RunId, ToolName, Verdict};
use isolith_gate::egress::{Net, NetOptions};
use isolith_gate::{Approver, Gate, Identity, Means, Question, Upstreams};
use isolith_runner::{Durable, Recording};
use isolith_store::{DataFolder, Journals};
use std::sync::Arc;

/// A run whose journal has a turn for each of these.
const RECORDED_CALLS: u32 = 20;

pub(crate) async fn rows(lab: &Lab) -> Result<Vec<Row>, Error> {
    let folder = tempfile::tempdir().map_err(Error::system("make a folder"))?;
    let data = DataFolder::open(folder.path()).map_err(|error| wrong(&error))?;
    let net = Net::new(NetOptions { proxy: None, ca: None }).map_err(|error| wrong(&error))?;
    let mut means = Means::new(Arc::new(net), folder.path().to_owned());
    means.audit = Some(Arc::new(data.audit().map_err(|error| wrong(&error))?));
    means.tools = lab.echoing();
    means.approver = Arc::new(Agrees);
    means.upstreams = Some(Arc::new(Another));
    let desk = Desk { lab, means: Arc::new(means), journals: data.journals().map_err(|error| wrong(&error))? };
    let mut rows = desk.calls(&CALL_PAYLOADS[0]).await?;
    rows.extend(desk.recorded(&CALL_PAYLOADS[0]).await?);
    Ok(rows)
}

struct Desk<'a> {
    lab: &'a Lab,
    means: Arc<Means>,
    journals: Journals,
}

impl Desk<'_> {
    fn gate(&self, source: &str, grants: &Arc<[Grant]>) -> Result<Arc<dyn Host>, Error> {
        let identity = Identity { run: RunId("bench".into()), program: Digest::of(source).to_string() };
        let gate = Gate::new(Arc::clone(grants), Limits::default(), identity, Arc::clone(&self.means));
        Ok(Arc::new(gate.map_err(|error| wrong(&error))?))
    }

    async fn timed(&self, source: &str, grants: &Arc<[Grant]>, calls: u32) -> Result<Sample, Error> {
        let watch = Stopwatch::start();
        let gate = self.gate(source, grants)?;
        self.lab.run_through(source, grants, Limits::default(), gate).await?;
        Ok(watch.stop().each(calls.into()))
    }

    async fn calls(&self, payload: &Payload) -> Result<Vec<Row>, Error> {
        let count = payload.count.min(Limits::default().calls);
        let plain = (calling(payload, count), granted(&["tool:echo"])?);
        let asked = (plain.0.clone(), granted(&["ask tool:echo"])?);
        let other = (plain.0.replace("tools.echo(", "tools.another.echo("), granted(&["tool:another.*"])?);
        let mut samples = [Samples::default(), Samples::default(), Samples::default()];
        let all = async || {
            let mut last = None;
            for ((source, grants), samples) in [&plain, &asked, &other].into_iter().zip(&mut samples) {
                let sample = self.timed(source, grants, count).await?;
                samples.push(sample);
                last = Some(sample);
            }
            last.ok_or_else(|| wrong(&"nothing was measured"))
        };
        self.lab.effort().sample(all).await?;
        let [plain, asked, other] = &samples;
        let times = |samples: &Samples| samples.cpu_us() / plain.cpu_us();
        Ok(vec![
            Row::time("gate.tool", "tool call, tiny, audited", plain),
            Row::time("gate.asked", "the same, someone in this process agrees to each", asked),
            Row::new("gate.asked_ratio", "that as a multiple of the plain call", times(asked), "×"),
            Row::time("gate.upstream", "the same tool of a namespace, performed in this process", other),
            Row::new("gate.upstream_ratio", "that as a multiple of the plain call", times(other), "×"),
        ])
    }

    async fn recorded(&self, payload: &Payload) -> Result<Vec<Row>, Error> {
        let (source, grants) = (calling(payload, RECORDED_CALLS), granted(&["tool:echo"])?);
        let (mut without, mut with) = (Samples::default(), Samples::default());
        let mut number = 0_u64;
        let both = async || {
            without.push(self.timed(&source, &grants, 1).await?);
            number += 1;
            let run = RunId(format!("bench-{number}"));
            let watch = Stopwatch::start();
            let journal = self.journals.create(&run).map_err(|error| wrong(&error))?;
            let recording = Recording {
                to: Box::new(journal),
                requested: grants.to_vec(),
                durable: Durable::AtItsEnd,
                checkpoints: None,
            };
            self.lab.record(&source, &grants, self.gate(&source, &grants)?, run.clone(), recording).await?;
            let sample = watch.stop();
            with.push(sample);
            self.journals.remove(&run).map_err(|error| wrong(&error))?;
            Ok(sample)
        };
        self.lab.effort().sample(both).await?;
        let (cpu, wall) = (with.cpu_us() / without.cpu_us(), with.wall_us() / without.wall_us());
        Ok(vec![
            Row::time("gate.unrecorded", format!("whole run with {RECORDED_CALLS} tool calls"), &without),
            Row::time("gate.recorded", "the same with a journal, on disk at its end", &with),
            Row::new("gate.recorded_ratio", "the second as a multiple of the first, CPU", cpu, "×"),
            Row::new("gate.recorded_wall_ratio", "the same, wall: the disk's word is waited for", wall, "×"),
        ])
    }
}

/// Someone who agrees to every call.
struct Agrees;

impl Approver for Agrees {
    fn ask(&self, _: Question) -> BoxFuture<'_, Verdict> {
        Box::pin(std::future::ready(Verdict::approve(Consent::Once)))
    }
}

/// Brings a namespace whose tools give their argument back.
struct Another;

impl Upstreams for Another {
    fn call<'a>(
        &'a self,
        _: &'a Gate,
        _: &'a ToolName,
        args: Option<Json>,
    ) -> BoxFuture<'a, Result<Option<Json>, CallError>> {
        Box::pin(std::future::ready(Ok(args)))
    }

    fn rule<'a>(&'a self, _: &'a ToolName) -> BoxFuture<'a, Rule> {
        Box::pin(std::future::ready(Rule::Allow))
    }

    fn search<'a>(&'a self, _: &'a str, _: usize, _: &'a (dyn Fn(&ToolName) -> bool + Sync)) -> BoxFuture<'a, Json> {
        Box::pin(std::future::ready(Json::null()))
    }

    fn describe<'a>(
        &'a self,
        _: &'a str,
        _: &'a (dyn Fn(&ToolName) -> bool + Sync),
    ) -> BoxFuture<'a, Result<String, CallError>> {
        Box::pin(std::future::ready(Ok(String::new())))
    }
}
