//! The server, made of what this machine has.

use crate::args::{EngineSettings, Serve};
use crate::engines::{Engines, Served};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::household::Callers;
use crate::paint::{self, QUIET};
use crate::types::Types;
use crate::{Done, grants, job, logs, snippets, toolbox};
use isolith_core::{Keeper, Manifest};
use isolith_gate::egress::{Net, NetOptions};
use isolith_quickjs::Options;
use isolith_runner::Runner;
use isolith_server::{Parts, Server, Settings};
use isolith_store::DataFolder;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

mod config;
mod key_file;
pub(crate) mod stdio;
mod tls;

/// Runs that can be computing at one time: more than one caller may have, so that none takes every turn.
const COMPUTING: u32 = 64;
/// Isolates for programs that programs invoke, beside those that runs have.
const SPARE_ISOLATES: u32 = 64;

pub(crate) fn serve(args: Serve) -> Done {
    let args = config::merged(args)?;
    let settings = settings(&args);
    let policy = args.policy.as_deref().map(grants::manifest).transpose()?;
    let data = job::data_folder()?;
    raise_file_limit();
    let runtime = runtime(args.stdio)?;
    runtime.block_on(async {
        let parts = parts(&data, policy, args.ca.clone(), settings, Saved::OfNobody, false, args.engines)?;
        if args.stdio {
            return stdio::serve(&Server::new(parts)).await;
        }
        let keys = Arc::clone(&parts.keys);
        let address = args.listen.unwrap_or(LISTEN);
        let any = keys.any().map_err(|error| Failure::usage(error, "`isolith doctor` says which file"))?;
        if !any && !address.ip().is_loopback() {
            let hint = "make a key first: `isolith key create NAME`; without one only loopback is served";
            return Err(Failure::usage(format!("{address} can be reached by others, and there is no key"), hint));
        }
        let tls = tls::acceptor(&args)?;
        let _lock = key_file::lock(data.path())?;
        let listener = TcpListener::bind(address).await.map_err(|error| {
            Failure::usage(format!("cannot listen on {address}: {error}"), "`--listen` names another address")
        })?;
        listening(&listener, tls.is_some(), any);
        let server = Server::new(parts);
        let found =
            server.recover().await.map_err(|error| Failure::usage(error, "`isolith doctor` says which file"))?;
        if found > 0 {
            paint::note(QUIET, &format!("{found} runs from before go on"));
        }
        let stop = CancellationToken::new();
        tokio::spawn(stop_on_signal(stop.clone()));
        server.serve(listener, tls, stop).await.map_err(|error| Failure::internal("serving", &error))?;
        Ok(Exit::Ok)
    })
}

/// Where it listens unless someone says otherwise.
const LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 4747);

fn settings(args: &Serve) -> Settings {
    let default = Settings::default();
    // Nobody else is there to be held up.
    let per_caller = if args.stdio { default.live_runs } else { default.live_runs_per_caller };
    Settings {
        hold: args.hold.unwrap_or(default.hold),
        keep: args.keep.unwrap_or(default.keep),
        approval: args.approval_time.unwrap_or(default.approval),
        keeper: if args.stdio { Keeper::Client } else { Keeper::Server },
        drain: args.drain.unwrap_or(default.drain),
        idle: args.idle.unwrap_or(default.idle),
        live_runs: args.live_runs.map_or(default.live_runs, |n| n as usize),
        live_runs_per_caller: args.live_runs_per_caller.map_or(per_caller, |n| n as usize),
        connections: args.connections.map_or(default.connections, |n| n as usize),
        hosts: args.host.clone(),
        workspaces: args.workspaces.clone(),
        record: args.record,
        ..default
    }
}

/// Whose saved programs those that are served can call.
#[derive(Clone, Copy)]
pub(crate) enum Saved {
    /// Of this user, who is the only caller.
    OfThisUser,
    /// Of nobody: callers are strangers.
    OfNobody,
}

pub(crate) fn parts(
    data: &DataFolder,
    policy: Option<Manifest>,
    ca: Option<PathBuf>,
    settings: Settings,
    saved: Saved,
    type_check: bool,
    how: EngineSettings,
) -> Result<Parts, Failure> {
    let live = u32::try_from(settings.live_runs).unwrap_or(u32::MAX).saturating_add(SPARE_ISOLATES);
    let engines = Engines::new(Options { live, computing: COMPUTING, ..Options::default() }, how)?;
    let network = policy.as_ref().map(|policy| policy.network.clone()).unwrap_or_default();
    let options = NetOptions { proxy: network.proxy, ca: ca.or(network.ca.map(PathBuf::from)) };
    let net = Net::new(options).map_err(|error| Failure::usage(error, "check the file and the address"))?;
    let folder = std::env::current_dir().map_err(|error| Failure::internal("finding the working folder", &error))?;
    let net = Arc::new(net);
    let named = policy.as_ref().map(|policy| policy.tools.clone()).unwrap_or_default();
    let tools = toolbox::toolbox(named, folder.clone(), Arc::clone(&net))?;
    let runner = Runner::new(engines.quickjs());
    let granted = policy.as_ref().map_or(&[][..], |policy| &policy.grants);
    let checker = type_check.then(|| Types::new(granted.to_vec().into(), tools.clone())).transpose()?;
    let upstreams = match saved {
        Saved::OfThisUser => {
            // In the walls that the policy wants around every program.
            let housing = policy.as_ref().map(|policy| policy.housing).unwrap_or_default();
            snippets::beside(tools, granted, || Ok(Runner::new(engines.of(housing)?)), folder.clone())?
        }
        Saved::OfNobody => tools.map(|tools| tools as _),
    };
    Ok(Parts {
        checker: checker.map(|checker| Arc::new(checker) as _),
        adopt: logs::adopt(),
        upstreams,
        runner,
        engines: Some(Arc::new(Served(engines))),
        store: Arc::new(data.runs().map_err(job::store)?),
        keys: Arc::new(data.keys().map_err(job::store)?),
        household: Arc::new(Callers::new(data.clone(), net, folder)),
        policy,
        settings,
        handle_key: key_file::handle_key(data.path())?,
    })
}

/// A client of its own is served by one thread: handing each message over to another takes longer than most of what is done for it.
pub(crate) fn runtime(stdio: bool) -> Result<tokio::runtime::Runtime, Failure> {
    let mut builder = match stdio {
        true => tokio::runtime::Builder::new_current_thread(),
        false => tokio::runtime::Builder::new_multi_thread(),
    };
    let runtime = builder.enable_all().build();
    runtime.map_err(|error| Failure::internal("starting the runtime", &error))
}

fn listening(listener: &TcpListener, tls: bool, keys: bool) {
    let Ok(address) = listener.local_addr() else { return };
    let scheme = if tls { "https" } else { "http" };
    let who = if keys { "for holders of a key" } else { "for this machine, without a key" };
    paint::note(QUIET, &format!("listening on {scheme}://{address} {who}"));
}

async fn stop_on_signal(stop: CancellationToken) {
    let (Ok(mut term), Ok(mut int)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt())) else {
        return;
    };
    tokio::select! {
        _ = term.recv() => {}
        _ = int.recv() => {}
    }
    paint::note(QUIET, "stopping: runs end or are suspended");
    stop.cancel();
    // Who insists does not want to wait.
    tokio::select! {
        _ = term.recv() => {}
        _ = int.recv() => {}
    }
    std::process::exit(130);
}

/// Every connection is a file, and the usual limit is lower than what can be served.
fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

/// What a file of ours could not be used for.
pub(crate) fn file_failure(path: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::usage(format!("cannot use `{}`: {error}", path.display()), "check that it is there and can be read")
}
