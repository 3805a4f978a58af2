//! Everything but the network: keys, files, tools, other programs, secrets.

use crate::book::{Entry, now};
use crate::gate::Gate;
use crate::ledger::Passed;
use crate::means::{Code, Invocation, Invoked};
use crate::outside::For;
use crate::upstream::Owner;
use crate::{FilesAnswer, run_command};
use isolith_core::{
    Access, Ambient, Answer, BindingName, CallError, CallId, FilesError, FilesOp, FilesReason, Grant, GuestPath,
    HostCall, HostReply, InvokeGrant, Json, KvOp, Limits, Power, Rule, SecretName, ToolGrant, ToolName, admit,
};

// THREAT[T-INVOKE-001]: programs that invoke each other without end.
/// Programs may invoke programs to this depth.
const DEPTH_MAX: u32 = 4;

impl Gate {
    /// Performs a call under its entry in the books.
    async fn booked(
        &self,
        (grant, what): (String, String),
        sent: usize,
        work: impl Future<Output = Result<(HostReply, &Grant), (CallError, Option<String>)>>,
    ) -> Answer {
        let mut entry = self.book.entry(grant, what).sent(sent as u64).begun();
        let worked = work.await;
        entry.over();
        let reply = match worked {
            Ok((reply, grant)) => {
                if let Some(row) = entry.row() {
                    row.grant = self.text_of(grant);
                }
                entry.bytes_in = reply.bytes() as u64;
                if let HostReply::Failed { error } = &reply {
                    entry.failed(error);
                }
                reply
            }
            Err((error, wanted)) => {
                entry = match wanted {
                    Some(wanted) => entry.refused(&error, wanted),
                    None => {
                        entry.failed(&error);
                        entry
                    }
                };
                HostReply::Failed { error }
            }
        };
        answer(reply, &entry)
    }

    pub(crate) async fn kv(&self, id: CallId, space: BindingName, op: KvOp) -> Answer {
        let label = (format!("kv:{space}"), format!("{} {space}", op.verb()));
        let sent = match &op {
            KvOp::Put { value, .. } => value.text().len(),
            _ => 0,
        };
        let verb = op.verb();
        self.booked(label, sent, async {
            let decision = admit::kv(&self.grants, &space, op.access());
            let grant = self
                .pass(Some(id), decision, || format!("{verb} {space}"))
                .await
                .map_err(|refused| (refused.error, Some(refused.wanted)))?;
            let (Some(kv), Power::Kv(own)) = (&self.means.kv, &grant.power) else {
                return Err((missing("kv.missing", "there are no key spaces here"), None));
            };
            let reply = kv.perform(space, own.quota_bytes, op, now()).await;
            Ok((reply, grant))
        })
        .await
    }

    pub(crate) async fn files(&self, id: CallId, op: FilesOp, bytes: Vec<u8>) -> Answer {
        let call = HostCall::Files { op, bytes };
        let label = call.label().unwrap_or_default();
        let HostCall::Files { op, bytes } = call else { return HostReply::done().into() };
        let what = label.1.clone();
        self.booked(label, bytes.len(), async {
            let path = self.place_of(op.path())?;
            let to = op.to().map(|to| self.place_of(to)).transpose()?;
            let decision = admit::files(&self.grants, &path, op.access());
            let grant = self
                .pass(Some(id), decision, || what)
                .await
                .map_err(|refused| (refused.error, Some(refused.wanted)))?;
            let Power::Files(own) = &grant.power else { return Err((missing("files.missing", "no files here"), None)) };
            if let Some(to) = &to {
                // Both places have to be allowed by all grants, and by one and the same. It is one call, and counted once.
                for grants in [&self.grants[..], std::slice::from_ref(grant)] {
                    let there = admit::files(grants, to, op.access());
                    let there = there.map_err(|refusal| (refusal.to_error(), Some(refusal.wanted.to_string())))?;
                    if there.asks.is_some_and(|asks| asks != grant) {
                        let (doing, instead, wanted) = match op.access() {
                            Access::Read => ("comparing something with", "read it", "read"),
                            Access::Write => ("moving something to", "write it there", "write"),
                        };
                        let message = format!("{doing} `{to}` has to be asked about: {instead} instead");
                        return Err((wrong("files.denied", message), Some(format!("files:{wanted} {to}"))));
                    }
                }
            }
            let performed = self.folders().perform(own, path, to, &op, bytes).await.map_err(|error| (error, None))?;
            let reply = match performed {
                FilesAnswer::Value(value) => HostReply::value(&value),
                FilesAnswer::Bytes(bytes) => HostReply::Bytes { bytes },
                FilesAnswer::Stream(_, _) if self.bodies.is_full() => {
                    return Err((wrong("files.limit", "too many files are open: read them to their end".into()), None));
                }
                FilesAnswer::Stream(source, length) => {
                    HostReply::Body { body: self.bodies.open(source, None), length: Some(length) }
                }
            };
            Ok((reply, grant))
        })
        .await
    }

    /// A path that a guest means. In a workspace there is nothing but relative ones.
    fn place_of(&self, text: &str) -> Result<GuestPath, (CallError, Option<String>)> {
        let told = |error: FilesError| (error.to_call_error(text), None);
        let path = GuestPath::new(text).map_err(|error| told(error.into()))?;
        if self.means.tree.is_some() && path.is_absolute() {
            let instead = if path.is_root() { ".".into() } else { path.names().join("/") };
            return Err(told(FilesReason::Outside { instead: Some(instead) }.into()));
        }
        Ok(path)
    }

    pub(crate) async fn tool(&self, id: CallId, name: ToolName, args: Option<Json>) -> Answer {
        if name.is_reserved() {
            return self.about_tools(&name, args).await;
        }
        let label = (format!("tool:{name}"), name.to_string());
        let sent = args.as_ref().map_or(0, |args| args.text().len());
        let mut acts = Vec::new();
        let mut answer = self
            .booked(label, sent, async {
                let first = admit::tool(&self.grants, &name, args.as_ref());
                let owner = match &first {
                    Ok(admitted) if self.is_upstream(&name, admitted.grant) => self.owner_of(&name).await,
                    _ => Owner::Agrees,
                };
                let decide = |args: Option<&Json>| owner.narrows(admit::tool(&self.grants, &name, args));
                let passed = self.pass_with(id, args.as_ref(), decide, || format!("the tool `{name}`")).await;
                let Passed { index, args: edited, .. } = passed.map_err(|r| (r.error, Some(r.wanted)))?;
                let (grant, args) = (&self.grants[index], edited.or(args));
                let Power::Tool(tool) = &grant.power else {
                    return Err((missing("tool.missing", "no such tool"), None));
                };
                self.schemas.check_input(&name, args.as_ref()).map_err(|error| (error, None))?;
                let reply = match self.commanded(&name, tool) {
                    None if name.namespace().is_some() => {
                        let Invoked { result, acts: done } = self.upstream(&name, args).await;
                        acts = done;
                        HostReply::Value { json: result.map_err(|error| (error, None))? }
                    }
                    None => {
                        let call = HostCall::Tool { name: name.clone(), args };
                        self.outside.wait(id, For::Tool, self.means.tools.call(id, call)).await.reply
                    }
                    Some(tool) => {
                        let json = run_command(tool, args.as_ref(), &self.means.folder).await;
                        HostReply::Value { json: json.map_err(|error| (error, None))? }
                    }
                };
                if let HostReply::Value { json } = &reply {
                    self.schemas.check_output(&name, json.as_ref()).map_err(|error| (error, None))?;
                }
                Ok((reply, grant))
            })
            .await;
        answer.acts.extend(acts);
        answer
    }

    /// Whether a tool is for who brings its namespace, and not for a command.
    fn is_upstream(&self, name: &ToolName, grant: &Grant) -> bool {
        let Power::Tool(tool) = &grant.power else { return false };
        name.namespace().is_some() && self.commanded(name, tool).is_none()
    }

    /// The grant that says which command does a tool's work: one that only asks may leave that to one that allows.
    fn commanded<'a>(&'a self, name: &ToolName, tool: &'a ToolGrant) -> Option<&'a ToolGrant> {
        let others =
            self.grants.iter().filter(|grant| grant.rule != Rule::Deny).filter_map(|grant| match &grant.power {
                Power::Tool(other) if other.name.exact() == Some(name) => Some(other),
                _ => None,
            });
        std::iter::once(tool).chain(others).find(|tool| !tool.command.is_empty())
    }

    pub(crate) async fn invoke(&self, id: CallId, name: BindingName, args: Option<Json>) -> Answer {
        let label = (format!("invoke:{name}"), name.to_string());
        let sent = args.as_ref().map_or(0, |args| args.text().len());
        let mut acts = Vec::new();
        let mut answer = self
            .booked(label, sent, async {
                let decide = |args: Option<&Json>| admit::invoke(&self.grants, &name, args);
                let passed = self.pass_with(id, args.as_ref(), decide, || format!("invoking `{name}`")).await;
                let Passed { grant, args: edited, .. } = passed.map_err(|r| (r.error, Some(r.wanted)))?;
                let args = edited.or(args);
                let (Some(programs), Power::Invoke(own)) = (&self.means.programs, &grant.power) else {
                    return Err((missing("invoke.missing", "there are no programs to invoke here"), None));
                };
                let own = self.programmed(own);
                let gate = self.descend(&own.grants, self.limits, name.as_str()).map_err(|error| (error, None))?;
                let program = own.program.clone().map(Code::File);
                let (limits, ambient) = (self.limits, Ambient::default());
                let invocation = Invocation { name: name.clone(), program, input: args, limits, ambient, gate };
                let Invoked { result, acts: done } = programs.invoke(invocation).await;
                acts = done;
                let reply = match result {
                    Ok(json) => HostReply::Value { json },
                    Err(error) => HostReply::Failed { error },
                };
                Ok((reply, grant))
            })
            .await;
        answer.acts.extend(acts);
        answer
    }

    /// The grant that says which program it is: one that only asks may leave that to one that allows.
    fn programmed<'a>(&'a self, invoke: &'a InvokeGrant) -> &'a InvokeGrant {
        let others =
            self.grants.iter().filter(|grant| grant.rule != Rule::Deny).filter_map(|grant| match &grant.power {
                Power::Invoke(other) if other.name == invoke.name => Some(other),
                _ => None,
            });
        std::iter::once(invoke).chain(others).find(|invoke| invoke.program.is_some()).unwrap_or(invoke)
    }

    /// The gate of a program that is run for this one, unless it would be one too deep.
    pub(crate) fn descend(&self, grants: &[Grant], limits: Limits, program: &str) -> Result<Gate, CallError> {
        if self.depth >= DEPTH_MAX {
            return Err(wrong("invoke.depth", format!("programs may invoke each other {DEPTH_MAX} deep")));
        }
        self.below(grants, limits, program).map_err(|error| wrong("invoke.grants", error))
    }

    pub(crate) async fn reveal(&self, id: CallId, name: SecretName) -> Answer {
        let label = format!("secret:reveal {name}");
        self.booked((label.clone(), label), 0, async {
            let decision = admit::reveal(&self.grants, &name);
            let what = || format!("reading the secret `{name}`");
            let grant = self.pass(Some(id), decision, what).await.map_err(|r| (r.error, Some(r.wanted)))?;
            let value = self.vault().get(&name).await.map_err(|error| (error, None))?;
            // The guest sees it from here on; nobody else is to see it in what the guest writes.
            self.redactor.add(name.as_str(), value.expose());
            Ok((HostReply::value(&value.expose()), grant))
        })
        .await
    }
}

fn answer(reply: HostReply, entry: &Entry) -> Answer {
    Answer { reply, acts: vec![entry.act()] }
}

fn missing(code: &str, message: &str) -> CallError {
    CallError { name: "Error".into(), message: message.into(), code: Some(code.into()) }
}

fn wrong(code: &str, message: String) -> CallError {
    CallError { name: "TypeError".into(), message, code: Some(code.into()) }
}
