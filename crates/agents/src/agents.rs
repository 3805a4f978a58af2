//! All who can be asked, by their names.

use crate::api::{Api, Dialect};
use crate::command::Command;
use crate::preset::{Preset, Tool};
use crate::session::{SessionAgent, Workshop};
use crate::{Agent, AgentConfig, AgentError, AgentsConfig, Mock, Progress, Reply, Request};
use isolith_core::{BoxFuture, FieldsError, SecretStore};
use isolith_gate::egress::Net;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// What agents need of their host.
#[derive(Clone)]
pub struct Setting {
    /// The network.
    pub net: Arc<Net>,
    /// Where keys are that are neither in the environment nor in files.
    pub secrets: Option<Arc<dyn SecretStore>>,
    /// Where programs run, and where paths begin.
    pub folder: PathBuf,
    /// Where agents of the kind `session` work; without it they fail.
    pub workshop: Option<Arc<dyn Workshop>>,
}

/// Several agents. A request goes to the one it names; where there is none of that name, or it names none, to the default.
#[derive(Clone)]
pub struct Agents {
    by_name: BTreeMap<String, Arc<dyn Agent>>,
    default: Arc<dyn Agent>,
}

impl Agents {
    /// One that is asked whatever is said.
    pub fn new(default: Arc<dyn Agent>) -> Agents {
        Agents { by_name: BTreeMap::new(), default }
    }

    /// Mocks everyone.
    pub fn mock() -> Agents {
        Agents::new(Arc::new(Mock))
    }

    /// Those of an operator. Nothing is started and no key is read before it is needed.
    ///
    /// The default is the one that is said to be; else the only one. Without any agent every request is refused.
    pub fn of(config: AgentsConfig, setting: &Setting) -> Result<Agents, FieldsError> {
        let AgentsConfig { default, agents } = config;
        let only = (agents.len() == 1).then(|| agents.keys().next().cloned()).flatten();
        if agents.len() > 1 && default.is_none() {
            let message = "say which agent is asked when nobody says: `default = \"…\"` under `[agents]`";
            return Err(FieldsError { at: "default".into(), message: message.into() });
        }
        let (sessions, others): (Vec<_>, Vec<_>) =
            agents.into_iter().partition(|(_, config)| matches!(config, AgentConfig::Session(_)));
        let mut by_name: BTreeMap<String, Arc<dyn Agent>> = BTreeMap::new();
        // Those that work in sessions have another one think for them.
        for (name, config) in others.into_iter().chain(sessions) {
            let made = agent(&name, config, setting, &by_name);
            by_name.insert(name, made);
        }
        let mut all = Agents { by_name, default: Arc::new(Nobody) };
        if let Some(default) = default.or(only).and_then(|name| all.by_name.get(&name).cloned()) {
            all.default = default;
        }
        Ok(all)
    }

    /// With one more.
    pub fn with(mut self, name: impl Into<String>, agent: Arc<dyn Agent>) -> Agents {
        self.by_name.insert(name.into(), agent);
        self
    }

    /// The same, with another default, if there is one of that name.
    pub fn prefer(&self, name: &str) -> Agents {
        let default = self.by_name.get(name).unwrap_or(&self.default).clone();
        Agents { by_name: self.by_name.clone(), default }
    }

    /// The names of all.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    fn find(&self, name: Option<&str>) -> &Arc<dyn Agent> {
        name.and_then(|name| self.by_name.get(name)).unwrap_or(&self.default)
    }
}

impl Agent for Agents {
    fn run(&self, request: Request, progress: Arc<dyn Progress>) -> BoxFuture<'_, Result<Reply, AgentError>> {
        self.find(request.adapter.as_deref()).run(request, progress)
    }
}

fn agent(
    name: &str,
    config: AgentConfig,
    setting: &Setting,
    made: &BTreeMap<String, Arc<dyn Agent>>,
) -> Arc<dyn Agent> {
    match config {
        AgentConfig::Session(config) => match (made.get(&config.agent).cloned(), setting.workshop.clone()) {
            (Some(by), Some(workshop)) => Arc::new(SessionAgent { name: name.to_owned(), config, by, workshop }),
            _ => Arc::new(Nobody),
        },
        AgentConfig::Command(config) => Arc::new(Command::new(name, config, &setting.folder)),
        AgentConfig::Claude(config) => Arc::new(Preset::new(name, Tool::Claude, config, &setting.folder)),
        AgentConfig::Codex(config) => Arc::new(Preset::new(name, Tool::Codex, config, &setting.folder)),
        AgentConfig::Copilot(config) => Arc::new(Preset::new(name, Tool::Copilot, config, &setting.folder)),
        AgentConfig::Anthropic(config) => Arc::new(Api::new(name, Dialect::Anthropic, config, setting)),
        AgentConfig::Openai(config) => Arc::new(Api::new(name, Dialect::Openai, config, setting)),
        AgentConfig::Mock => Arc::new(Mock),
    }
}

/// Stands where no agent is.
struct Nobody;

impl Agent for Nobody {
    fn run(&self, request: Request, _: Arc<dyn Progress>) -> BoxFuture<'_, Result<Reply, AgentError>> {
        let name = request.adapter.unwrap_or_else(|| "default".into());
        let cause = "no agent is set up: write one under `[agents]`, or run with a mock";
        Box::pin(std::future::ready(Err(AgentError::failed(&name, cause))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;
    use isolith_gate::egress::NetOptions;

    struct Named(&'static str);

    impl Agent for Named {
        fn run(&self, request: Request, _: Arc<dyn Progress>) -> BoxFuture<'_, Result<Reply, AgentError>> {
            let text = format!("{}:{}", self.0, request.label);
            Box::pin(std::future::ready(Ok(Reply { text, ..Reply::default() })))
        }
    }

    async fn ask(agents: &Agents, adapter: Option<&str>) -> Result<String, AgentError> {
        let request = Request { label: "a".into(), adapter: adapter.map(str::to_owned), ..Request::default() };
        agents.run(request, Arc::new(Silent)).await.map(|reply| reply.text)
    }

    fn of(text: &str) -> Result<Agents, String> {
        let config: AgentsConfig = toml::from_str(text).unwrap();
        let net = Arc::new(Net::new(NetOptions::default()).unwrap());
        Agents::of(config, &Setting { net, secrets: None, folder: ".".into(), workshop: None })
            .map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn an_unknown_name_means_the_default() {
        let agents = Agents::new(Arc::new(Named("default"))).with("other", Arc::new(Named("other")));
        assert_eq!(ask(&agents, Some("other")).await.unwrap(), "other:a");
        assert_eq!(ask(&agents, Some("zzz")).await.unwrap(), "default:a");
        assert_eq!(ask(&agents, None).await.unwrap(), "default:a");
        assert_eq!(ask(&agents.prefer("other"), None).await.unwrap(), "other:a");
        assert_eq!(ask(&agents.prefer("zzz"), None).await.unwrap(), "default:a");
    }

    #[tokio::test]
    async fn the_default_is_said_or_the_only_one() {
        assert_eq!(ask(&of("[mock]").unwrap(), None).await.unwrap(), "[mock] a: ");
        let both = "[mock]\n[claude]\nprogram = \"/nowhere\"";
        assert!(of(both).err().unwrap().contains("say which agent"));
        let said = of(&format!("default = \"mock\"\n{both}")).unwrap();
        assert_eq!(ask(&said, Some("zzz")).await.unwrap(), "[mock] a: ");
        assert_eq!(said.names().collect::<Vec<_>>(), ["claude", "mock"]);
    }

    #[tokio::test]
    async fn where_nobody_is_nobody_answers() {
        let refused = ask(&of("").unwrap(), None).await.unwrap_err();
        assert!(matches!(refused, AgentError::AdapterSpawn { .. }), "{refused}");
    }
}
