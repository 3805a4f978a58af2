use super::WorkspaceFailed;
use serde::{Deserialize, Serialize};

/// What a workspace is to be able to do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Capabilities {
    /// Files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fs: Option<Switch<NoSettings>>,
    /// A shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shell: Option<Switch<NoSettings>>,
    /// An interpreter that remembers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Switch<NoSettings>>,
    /// An isolate that does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<Switch<ScriptSettings>>,
    /// Files as they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Switch<NoSettings>>,
}

impl Capabilities {
    /// Those that are wanted.
    pub fn names(&self) -> Vec<&'static str> {
        let on = |name, wanted: bool| wanted.then_some(name);
        let all = [
            on("fs", self.fs.as_ref().is_some_and(Switch::is_on)),
            on("shell", self.shell.as_ref().is_some_and(Switch::is_on)),
            on("code", self.code.as_ref().is_some_and(Switch::is_on)),
            on("script", self.script.as_ref().is_some_and(Switch::is_on)),
            on("snapshot", self.snapshot.as_ref().is_some_and(Switch::is_on)),
        ];
        all.into_iter().flatten().collect()
    }
}

/// `true`, or settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Switch<T> {
    /// Wanted, or not.
    On(bool),
    /// Wanted, like this.
    Settings(T),
}

impl<T: Clone + Default> Switch<T> {
    /// What is set.
    pub fn settings(&self) -> T {
        match self {
            Switch::On(_) => T::default(),
            Switch::Settings(settings) => settings.clone(),
        }
    }
}

impl<T> Switch<T> {
    /// Whether it is wanted.
    pub fn is_on(&self) -> bool {
        !matches!(self, Switch::On(false))
    }
}

/// Settings that are kept, and mean nothing here.
pub type NoSettings = serde_json::Map<String, serde_json::Value>;

/// What a script may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// Nothing.
    Off,
    /// Whatever its caller may.
    Allow,
}

/// How scripts run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct ScriptSettings {
    /// What they are written in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub languages: Option<Vec<String>>,
    /// What they may reach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// How long one may take, unless its call says otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_duration_ms: Option<u64>,
}

impl ScriptSettings {
    pub(super) fn check(&self) -> Result<(), WorkspaceFailed> {
        let foreign = self.languages.iter().flatten().find(|name| !super::SCRIPT_LANGUAGES.contains(&name.as_str()));
        match foreign {
            Some(name) => Err(WorkspaceFailed(format!("`script` runs JavaScript and TypeScript, and not `{name}`"))),
            None => Ok(()),
        }
    }
}
