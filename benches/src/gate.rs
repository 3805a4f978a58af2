//! What grants cost: in a run that uses none of them, and by the call.

use crate::asked;
use crate::error::Error;
use crate::lab::Lab;
use crate::report::{Goal, Row};
use crate::stopwatch::{Samples, Stopwatch};
use isolith_core::{Digest, Grant, Host, Json, Limits, RunId};
use isolith_gate::egress::{Net, NetOptions};
use isolith_gate::{Gate, Identity, Means};
use isolith_store::DataFolder;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

/// One grant of each kind.
const GRANTS: [&str; 6] = [
    "egress:GET https://api.example.com/v1/",
    "egress:*.example.com",
    "kv:bench",
    "files:read docs",
    "tool:search",
    "secret:TOKEN",
];

/// Calls in one measured run.
const KV_CALLS: u64 = 200;
const REQUESTS: u64 = 50;

const NOTHING: &str = "return 1";

pub(crate) async fn rows(lab: &Lab) -> Result<Vec<Row>, Error> {
    let data = tempfile::tempdir().map_err(Error::system("make a folder"))?;
    let desk = Desk::new(lab, data.path())?;
    let (without, with) = desk.idle().await?;
    let ratio = with.cpu_us() / without.cpu_us();
    let mut rows = vec![
        Row::time("gate.without", "whole run, nothing granted", &without),
        Row::time("gate.with", "whole run, six grants, none used", &with),
        Row::new("gate.ratio", "the second as a multiple of the first", ratio, "×").goal(Goal::AtMost(1.2)),
        Row::time("gate.kv_get", "`kv.get`, audited", &desk.kv().await?).goal(Goal::AtMost(30.0)),
    ];
    rows.extend(desk.fetches().await?);
    rows.extend(asked::rows(lab).await?);
    Ok(rows)
}

/// What gates of measured runs act with.
struct Desk<'a> {
    lab: &'a Lab,
    means: Arc<Means>,
}

impl<'a> Desk<'a> {
    fn new(lab: &'a Lab, folder: &std::path::Path) -> Result<Desk<'a>, Error> {
        let data = DataFolder::open(folder).map_err(|error| wrong(&error))?;
        let net = Net::new(NetOptions { proxy: None, ca: None }).map_err(|error| wrong(&error))?;
        let mut means = Means::new(Arc::new(net), folder.to_owned());
        means.kv = Some(Arc::new(data.kv().map_err(|error| wrong(&error))?));
        means.audit = Some(Arc::new(data.audit().map_err(|error| wrong(&error))?));
        Ok(Desk { lab, means: Arc::new(means) })
    }

    /// From the source to an outcome, with a gate of its own as every run has it.
    async fn run(&self, source: &str, grants: &Arc<[Grant]>, limits: Limits) -> Result<Json, Error> {
        let identity = Identity { run: RunId("bench".into()), program: Digest::of(source).to_string() };
        let gate =
            Gate::new(Arc::clone(grants), limits, identity, Arc::clone(&self.means)).map_err(|error| wrong(&error))?;
        self.lab.run_through(source, grants, limits, Arc::new(gate) as Arc<dyn Host>).await
    }

    /// Runs that use nothing, without grants and with them, in turns: what disturbs one disturbs the other.
    async fn idle(&self) -> Result<(Samples, Samples), Error> {
        let (nothing, grants) = (Arc::default(), granted(&GRANTS)?);
        let (mut without, mut with) = (Samples::default(), Samples::default());
        let both = async || {
            let watch = Stopwatch::start();
            self.lab.run(NOTHING, &nothing).await?;
            without.push(watch.stop());
            let watch = Stopwatch::start();
            self.run(NOTHING, &grants, Limits::default()).await?;
            let sample = watch.stop();
            with.push(sample);
            Ok(sample)
        };
        self.lab.effort().sample(both).await?;
        Ok((without, with))
    }

    async fn kv(&self) -> Result<Samples, Error> {
        let grants = granted(&["kv:bench"])?;
        let source = format!(
            "await kv.put('k', {{ n: 1 }}); let n = 0; for (let i = 1; i < {KV_CALLS}; i++) n += (await kv.get('k')).n; return n"
        );
        let once = async || {
            let watch = Stopwatch::start();
            self.run(&source, &grants, Limits::default()).await?;
            Ok(watch.stop().each(KV_CALLS))
        };
        self.lab.effort().sample(once).await
    }

    async fn fetches(&self) -> Result<Vec<Row>, Error> {
        let origin = origin()?;
        let url = format!("http://{origin}/item");
        let grants = granted(&[&format!("egress:GET {url}")])?;
        let source = format!(
            "let n = 0; for (let i = 0; i < {REQUESTS}; i++) n += (await (await fetch('{url}')).json()).n; return n"
        );
        let own = async || {
            let watch = Stopwatch::start();
            self.run(&source, &grants, Limits::default()).await?;
            Ok(watch.stop().each(REQUESTS))
        };
        let ours = self.lab.effort().sample(own).await?;
        #[cfg_attr(not(feature = "peers"), expect(unused_mut, reason = "a peer adds rows"))]
        let mut rows = vec![Row::time("gate.fetch", "`fetch` from loopback, whole runner, audited", &ours)];
        #[cfg(feature = "peers")]
        rows.extend(reqwest_beside(self.lab, &url, own).await?);
        Ok(rows)
    }
}

/// The same requests by reqwest alone, in turns with ours.
#[cfg(feature = "peers")]
async fn reqwest_beside(
    lab: &Lab,
    url: &str,
    mut own: impl AsyncFnMut() -> Result<crate::stopwatch::Sample, Error>,
) -> Result<Vec<Row>, Error> {
    let (mut ours, mut theirs) = (Samples::default(), Samples::default());
    let both = async || {
        ours.push(own().await?);
        // A client of its own each time, as each of our runs has one.
        let client = reqwest::Client::builder().no_proxy().build().map_err(|error| wrong(&error))?;
        let watch = Stopwatch::start();
        for _ in 0..REQUESTS {
            let text = client.get(url).send().await.map_err(|error| wrong(&error))?.text().await;
            let value: serde_json::Value =
                serde_json::from_str(&text.map_err(|error| wrong(&error))?).map_err(|error| wrong(&error))?;
            if value["n"] != 1 {
                return Err(wrong(&"another answer"));
            }
        }
        let sample = watch.stop().each(REQUESTS);
        theirs.push(sample);
        Ok(sample)
    };
    lab.effort().sample(both).await?;
    let ratio = ours.wall_us() / theirs.wall_us();
    Ok(vec![
        Row::time("gate.reqwest", "the same request by reqwest alone", &theirs),
        Row::new("gate.fetch_ratio", "`fetch` as a multiple of reqwest, wall", ratio, "×").goal(Goal::AtMost(1.3)),
    ])
}

pub(crate) fn granted(grants: &[&str]) -> Result<Arc<[Grant]>, Error> {
    grants.iter().map(|text| text.parse().map_err(|error| wrong(&error))).collect()
}

pub(crate) fn wrong(error: &dyn std::fmt::Display) -> Error {
    Error::Wrong { what: "grants", found: error.to_string() }
}

/// A server that gives the same small answer to every request, on connections that stay open.
fn origin() -> Result<SocketAddr, Error> {
    let failed = Error::system("listen on loopback");
    let listener = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
    let address = listener.local_addr().map_err(Error::system("listen on loopback"))?;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream));
        }
    });
    Ok(address)
}

fn serve(mut stream: TcpStream) {
    let answer = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 7\r\n\r\n{\"n\":1}";
    let (mut seen, mut buffer) = (Vec::new(), [0; 4096]);
    let _ = stream.set_nodelay(true);
    while let Ok(read @ 1..) = stream.read(&mut buffer) {
        seen.extend_from_slice(&buffer[..read]);
        while let Some(end) = seen.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            seen.drain(..end + 4);
            if stream.write_all(answer).is_err() {
                return;
            }
        }
    }
}
