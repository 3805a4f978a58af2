//! What a gate acts with, and whom it asks.

use crate::egress::Net;
use crate::gate::Gate;
use crate::upstream::Upstreams;
use isolith_core::{
    Act, Ambient, Answer, Ask, AuditLog, BindingName, BoxFuture, CallError, CallId, FileTree, Host, HostCall,
    HostReply, Json, KeySpaces, Limits, RunId, SecretStore, Verdict,
};
use std::path::PathBuf;
use std::sync::Arc;

/// What gates act with. One serves many runs.
#[derive(Clone)]
pub struct Means {
    /// The network.
    pub net: Arc<Net>,
    /// Key spaces, where there are any.
    pub kv: Option<Arc<dyn KeySpaces>>,
    /// Stored secrets, where there are any.
    pub secrets: Option<Arc<dyn SecretStore>>,
    /// Where it is written down.
    pub audit: Option<Arc<dyn AuditLog>>,
    /// What a guest's relative paths are relative to, and where commands run.
    pub folder: PathBuf,
    /// The workspace that a guest's files are in, instead of that folder.
    pub tree: Option<Arc<dyn FileTree>>,
    /// The embedder's own functions: gets every admitted [`HostCall::Tool`] without a namespace that no command
    /// is granted for.
    pub tools: Arc<dyn Host>,
    /// Who performs tools of namespaces, where there are any.
    pub upstreams: Option<Arc<dyn Upstreams>>,
    /// The programs that can be invoked.
    pub programs: Option<Arc<dyn Programs>>,
    /// Who is asked where a grant says `ask`.
    pub approver: Arc<dyn Approver>,
}

impl Means {
    /// The network and nothing else; nobody to ask, so nobody agrees.
    pub fn new(net: Arc<Net>, folder: PathBuf) -> Means {
        let nothing = Arc::new(Nothing);
        let (tools, approver) = (Arc::clone(&nothing) as Arc<dyn Host>, nothing as Arc<dyn Approver>);
        Means {
            net,
            kv: None,
            secrets: None,
            audit: None,
            folder,
            tree: None,
            tools,
            upstreams: None,
            programs: None,
            approver,
        }
    }
}

/// Someone who can agree to a call.
pub trait Approver: Send + Sync {
    /// What they say. What a yes is good for, and what else it says, is kept to by the gate.
    fn ask(&self, question: Question) -> BoxFuture<'_, Verdict>;

    /// The run wants to leave memory while these calls wait for a word, and would ask again when it is back. Whoever agrees says
    /// nothing about them until [`Approver::stay`], or until the run is back.
    fn leave(&self, _asked: &[CallId]) -> bool {
        false
    }

    /// The run stays after all.
    fn stay(&self) {}

    /// A call that was agreed to has its answer: its word is spent.
    fn done(&self, _call: CallId) {}

    /// What waits for a word.
    fn open(&self) -> Vec<Ask> {
        Vec::new()
    }
}

/// What someone is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// By which call; none where it could not be made again from its beginning, so that the run has to stay until there is a word.
    pub call: Option<CallId>,
    /// By which run.
    pub run: RunId,
    /// By which program.
    pub program: String,
    /// Under which grant.
    pub grant: String,
    /// What is to be done.
    pub what: String,
    /// What a tool or a program is to be called with.
    pub args: Option<Json>,
}

/// Programs that can be invoked by name.
pub trait Programs: Send + Sync {
    /// Runs one of them to its end.
    fn invoke(&self, invocation: Invocation) -> BoxFuture<'_, Invoked>;
}

/// A program to be run for another.
pub struct Invocation {
    /// Its name.
    pub name: BindingName,
    /// Its source, or the file that it is in, where the grant says so.
    pub program: Option<Code>,
    /// Its input.
    pub input: Option<Json>,
    /// What it may use: no more than its caller.
    pub limits: Limits,
    /// What it may know of the world.
    pub ambient: Ambient,
    /// What it may do: its own grants, as far as its caller has them.
    pub gate: Gate,
}

/// Where the source of a program is.
pub enum Code {
    /// In this file.
    File(String),
    /// Here.
    Text(String),
}

/// What became of it.
pub struct Invoked {
    /// Its value, or why it failed.
    pub result: Result<Option<Json>, CallError>,
    /// What it did, for its caller's receipt.
    pub acts: Vec<Act>,
}

/// Has no functions and agrees to nothing.
struct Nothing;

impl Host for Nothing {
    fn call(&self, _: CallId, call: HostCall) -> BoxFuture<'_, Answer> {
        let what = call.label().map_or_else(|| "this".into(), |(_, what)| what);
        let reply = HostReply::failed_as("tool.missing", "Error", format!("nobody brings the tool `{what}`"));
        Box::pin(std::future::ready(reply.into()))
    }
}

impl Approver for Nothing {
    fn ask(&self, _question: Question) -> BoxFuture<'_, Verdict> {
        Box::pin(std::future::ready(Verdict::deny(None)))
    }
}
