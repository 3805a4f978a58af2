//! The host of one run: decides about each call, performs it, writes it down.

use crate::book::Book;
use crate::egress::Client;
use crate::held::Bodies;
use crate::ledger::{Ledger, Passed, Refused};
use crate::means::{Means, Question};
use crate::outside::{For, Outside};
use crate::redact::Redactor;
use crate::requests::Requests;
use crate::send::Vaults;
use crate::{Folders, Schemas, Vault};
use isolith_core::{
    Admitted, Answer, Ask, BoxFuture, CallId, CallRecord, FetchCall, Grant, Host, HostCall, HostReply, Json, Limits,
    Method, Refusal, Rule, RunId, Target, Verdict, admit, narrow,
};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use tracing::{Instrument, Span};

/// The host of one run.
pub struct Gate {
    pub(crate) grants: Arc<[Grant]>,
    /// Each of them as text, made at the first call.
    texts: OnceLock<Vec<String>>,
    pub(crate) limits: Limits,
    pub(crate) means: Arc<Means>,
    pub(crate) book: Book,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) redactor: Arc<Redactor>,
    // These are made at their first use: a run that asks for nothing pays for nothing.
    vault: OnceLock<Vault>,
    pub(crate) schemas: Schemas,
    folders: OnceLock<Folders>,
    /// Those of who brings its tools.
    pub(crate) vaults: Vaults,
    pub(crate) bodies: Bodies,
    pub(crate) requests: Requests,
    client: OnceLock<Client>,
    /// Calls that only wait for someone outside.
    pub(crate) outside: Outside,
    /// How many programs stand between this run and the first.
    pub(crate) depth: u32,
}

/// Who runs.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The run.
    pub run: RunId,
    /// The digest of its program's source.
    pub program: String,
}

impl Gate {
    /// A gate for one run with these grants, which were narrowed already. Grants and means are shared, not copied.
    pub fn new(
        grants: impl Into<Arc<[Grant]>>,
        limits: Limits,
        identity: Identity,
        means: impl Into<Arc<Means>>,
    ) -> Result<Gate, String> {
        let redactor = Arc::new(Redactor::default());
        Gate::with(grants.into(), limits, identity, means.into(), redactor, Arc::default(), 0)
    }

    fn with(
        grants: Arc<[Grant]>,
        limits: Limits,
        identity: Identity,
        means: Arc<Means>,
        redactor: Arc<Redactor>,
        ledger: Arc<Ledger>,
        depth: u32,
    ) -> Result<Gate, String> {
        let Identity { run, program } = identity;
        Ok(Gate {
            texts: OnceLock::new(),
            vault: OnceLock::new(),
            schemas: Schemas::of(&grants)?,
            folders: OnceLock::new(),
            vaults: Vaults::default(),
            book: Book::new(run, program, means.audit.clone(), Arc::clone(&redactor)),
            bodies: Bodies::default(),
            requests: Requests::default(),
            client: OnceLock::new(),
            outside: Outside::default(),
            grants,
            limits,
            means,
            ledger,
            redactor,
            depth,
        })
    }

    /// The gate of a program that this run invokes: it has no grant that this one has not.
    pub(crate) fn below(&self, requested: &[Grant], limits: Limits, program: &str) -> Result<Gate, String> {
        let grants = narrow(&self.grants, requested).grants.into();
        let identity = Identity { run: self.book.run.clone(), program: program.to_owned() };
        let ledger = Arc::new(Ledger::under(Arc::clone(&self.ledger)));
        let redactor = Arc::clone(&self.redactor);
        Gate::with(grants, limits, identity, Arc::clone(&self.means), redactor, ledger, self.depth + 1)
    }

    /// Goes on with a run that made these calls before it left memory.
    pub fn after(self, calls: &[CallRecord]) -> Gate {
        self.ledger.already(&self.grants, calls.iter().map(|call| call.grant.clone()));
        self
    }

    /// Goes on with a run in which someone agreed to all that these grants ask about.
    pub fn having_agreed(self, grants: impl Iterator<Item = String>) -> Gate {
        self.ledger.agreed_before(grants);
        self
    }

    /// What the run may do.
    pub fn grants(&self) -> Arc<[Grant]> {
        Arc::clone(&self.grants)
    }

    /// A grant of this run as text.
    pub(crate) fn text_of(&self, grant: &Grant) -> String {
        let texts = self.texts.get_or_init(|| self.grants.iter().map(Grant::to_string).collect());
        let at = self.grants.iter().position(|own| std::ptr::eq(own, grant));
        at.and_then(|at| texts.get(at)).map_or_else(|| grant.to_string(), String::clone)
    }

    pub(crate) fn vault(&self) -> &Vault {
        self.vault.get_or_init(|| Vault::new(&self.grants, self.means.secrets.clone()))
    }

    pub(crate) fn folders(&self) -> &Folders {
        self.folders.get_or_init(|| Folders::of(&self.means, &self.grants))
    }

    pub(crate) fn client(&self) -> &Client {
        self.client.get_or_init(|| self.means.net.client(&self.limits))
    }

    /// Lets a call pass that takes nothing which could be changed.
    pub(crate) async fn pass<'a>(
        &'a self,
        call: Option<CallId>,
        decision: Result<Admitted<'a>, Refusal>,
        what: impl FnOnce() -> String,
    ) -> Result<&'a Grant, Refused> {
        let ask = async |label| self.ask(call, label, what(), None).await;
        let same = decision.clone();
        self.ledger.pass(decision, ask, |_| same).await.map(|passed| passed.grant)
    }

    /// Lets a call pass whose arguments someone may change.
    pub(crate) async fn pass_with<'a>(
        &'a self,
        call: CallId,
        args: Option<&Json>,
        decide: impl Fn(Option<&Json>) -> Result<Admitted<'a>, Refusal>,
        what: impl FnOnce() -> String,
    ) -> Result<Passed<'a>, Refused> {
        // Where nothing is given, null can be changed.
        let shown = || args.cloned().unwrap_or_else(Json::null);
        let ask = async |label| self.ask(Some(call), label, what(), Some(shown())).await;
        self.ledger.pass(decide(args), ask, |edited| decide(Some(edited))).await
    }

    /// Whether there is anything at all that someone has to agree to.
    pub(crate) fn may_ask(&self) -> bool {
        self.grants.iter().any(|grant| grant.rule == Rule::Ask)
    }

    /// Arguments without the secrets that are known.
    fn shown(&self, args: &Json) -> Json {
        match self.scrub(args.text()) {
            Cow::Borrowed(_) => args.clone(),
            Cow::Owned(clean) => Json::from_text(clean).unwrap_or_else(|_| Json::null()),
        }
    }

    /// Asks whoever can agree, and waits for a word.
    pub(crate) async fn ask(
        &self,
        call: Option<CallId>,
        grant: String,
        what: String,
        args: Option<Json>,
    ) -> (String, Verdict) {
        let (run, program) = (self.book.run.clone(), self.book.program.clone());
        let editable = args.is_some();
        // A program that was invoked numbers its own calls, and its caller is at work meanwhile: it cannot be left.
        let call = call.filter(|_| self.depth == 0);
        // It is shown to people, and kept where secrets are not.
        let (shown, args) = (self.scrub(&what).into_owned(), args.as_ref().map(|args| self.shown(args)));
        let asked = self.means.approver.ask(Question { call, run, program, grant, what: shown, args });
        let mut verdict = match call {
            Some(call) => self.outside.wait(call, For::Word, asked).await,
            None => asked.await,
        };
        if !editable {
            verdict.args = None;
        }
        (what, verdict)
    }

    /// A call that is dropped on the way, because its run leaves memory, is not done: its word is good for when it is made again.
    async fn answered(&self, id: CallId, call: HostCall) -> Answer {
        let answer = self.perform(id, call).await;
        self.means.approver.done(id);
        answer
    }

    async fn perform(&self, id: CallId, call: HostCall) -> Answer {
        match call {
            // On its own: it is by far the largest of these futures, and every call would make room for it.
            HostCall::Fetch(fetch) => Box::pin(self.fetch(id, *fetch)).await,
            HostCall::Kv { space, op } => self.kv(id, space, op).await,
            HostCall::Files { op, bytes } => self.files(id, op, bytes).await,
            HostCall::Tool { name, args } => self.tool(id, name, args).await,
            HostCall::Invoke { name, args } => self.invoke(id, name, args).await,
            HostCall::Reveal { name } => self.reveal(id, name).await,
            HostCall::ReadBody { body, most_bytes } => self.bodies.read(body, most_bytes).await.into(),
            HostCall::WriteBody { request, bytes, last } => self.requests.write(request, bytes, last).await.into(),
            HostCall::Drop { request, body } => {
                request.into_iter().for_each(|id| self.requests.cancel(id));
                body.into_iter().for_each(|id| self.bodies.drop(id));
                HostReply::done().into()
            }
            HostCall::Sleep { .. } => HostReply::failed("Error", "sleeping is the runner's own").into(),
        }
    }
}

impl Gate {
    /// What may take long is named by its grant from the start: the run may end before it does.
    fn describe_fetch(&self, fetch: &FetchCall, call: &HostCall) -> Option<(String, String)> {
        let (method, target) = (Method::new(&fetch.method).ok()?, Target::parse(&fetch.url).ok()?);
        let what = format!("{method} {target}");
        let grant = match admit::egress(&self.grants, &method, &target) {
            Ok(admitted) => self.text_of(admitted.grant),
            Err(_) => call.label()?.0,
        };
        Some((grant, what))
    }
}

impl Host for Gate {
    fn call(&self, id: CallId, call: HostCall) -> BoxFuture<'_, Answer> {
        if !call.exercises() || !tracing::enabled!(tracing::Level::INFO) {
            return Box::pin(self.answered(id, call));
        }
        let span = span(&call, &self.redactor);
        Box::pin(self.answered(id, call).instrument(span))
    }

    fn describe(&self, call: &HostCall) -> Option<(String, String)> {
        if let HostCall::Fetch(fetch) = call {
            return self.describe_fetch(fetch, call).or_else(|| call.label());
        }
        let label = call.label()?;
        let granted =
            |decision: Result<Admitted<'_>, Refusal>| decision.ok().map(|admitted| self.text_of(admitted.grant));
        match call {
            HostCall::Tool { name, args } => {
                Some((granted(admit::tool(&self.grants, name, args.as_ref())).unwrap_or(label.0), label.1))
            }
            HostCall::Invoke { name, args } => {
                Some((granted(admit::invoke(&self.grants, name, args.as_ref())).unwrap_or(label.0), label.1))
            }
            _ => Some(label),
        }
    }

    fn waits(&self, call: &HostCall) -> bool {
        let HostCall::Tool { name, args } = call else { return false };
        // However many wait for a word at one time, they are to be shown together.
        if self.may_ask()
            && admit::tool(&self.grants, name, args.as_ref())
                .is_ok_and(|admitted| self.ledger.asks(&admitted).is_some())
        {
            return true;
        }
        // What has a namespace is performed from here.
        if name.namespace().is_some() {
            return false;
        }
        let commanded = |grant: &Grant| matches!(&grant.power, isolith_core::Power::Tool(tool) if tool.name.exact() == Some(name) && !tool.command.is_empty());
        self.means.tools.waits(call) && !self.grants.iter().any(commanded)
    }

    fn leave(&self, unanswered: &[CallId]) -> bool {
        if self.bodies.any() || self.requests.any() {
            return false;
        }
        // Whoever brings the tools decides, and whoever is asked: an answer that is on its way in is seen there.
        let Some((tools, words)) = self.outside.split(unanswered) else { return false };
        if !words.is_empty() && !self.means.approver.leave(&words) {
            return false;
        }
        let agreed = tools.is_empty() || self.means.tools.leave(&tools);
        match agreed {
            true => self.book.close(),
            false => self.means.approver.stay(),
        }
        agreed
    }

    fn asks(&self) -> Vec<Ask> {
        let mut asks = self.means.approver.open();
        for ask in &mut asks {
            // A secret may have become known since.
            ask.args = ask.args.as_ref().map(|args| self.shown(args));
            ask.what = self.scrub(&ask.what).into_owned();
        }
        asks
    }

    fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.redactor.text(text)
    }
}

/// One call, named as OpenTelemetry's conventions for agents name it. Arguments and content are never in it.
fn span(call: &HostCall, redactor: &Redactor) -> Span {
    let (grant, what) = call.label().unwrap_or_default();
    let what = &*redactor.text(&what);
    match call {
        HostCall::Tool { name, .. } => tracing::info_span!(
            "execute_tool",
            otel.name = format!("execute_tool {name}"),
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = name.as_str(),
        ),
        HostCall::Fetch(fetch) => {
            tracing::info_span!("fetch", otel.name = fetch.method, otel.kind = "client", isolith.what = what)
        }
        _ => tracing::info_span!("call", otel.name = grant.split(':').next().unwrap_or_default(), isolith.what = what),
    }
}
