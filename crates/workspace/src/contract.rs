//! Workspaces as agent frameworks declare them: a provider, and capabilities with their settings.
//!
//! [`Declared::open`] decides what a workspace can do, before anything is made: what cannot be served fails there, with the reason. What
//! it gives, a [`WorkspaceRef`], says everything that is needed to find the workspace again.

mod capability;
mod code;
mod offer;

pub use capability::{Capabilities, Network, NoSettings, ScriptSettings, Switch};
pub use code::{CodeError, CodeOutput, RunCodeResult, SCRIPT_LANGUAGES, wrong_language};
pub use offer::{Offer, PREFER_SCRIPT, offers, prompt};

use isolith_core::SessionName;
use serde::{Deserialize, Serialize};

/// The version of what a reference says.
const SCHEMA_VERSION: u32 = 1;

/// Who keeps the files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Provider {
    /// Memory: gone with the process.
    InMemory {
        /// Which one, in a reference.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
    /// A session of the store, made when it is not named.
    Filestore {
        /// Which.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionName>,
    },
    /// A folder of this machine.
    LocalDirectory {
        /// Which.
        path: String,
    },
    /// Nobody: programs run and leave nothing behind.
    Isolate {
        /// What scripts may reach where the capability says nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        network: Option<Network>,
        /// How long they may take where neither the call nor the capability says.
        #[serde(default, rename = "maxDurationMs", skip_serializing_if = "Option::is_none")]
        max_duration_ms: Option<u64>,
    },
}

/// A workspace as someone wants it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declared {
    /// Who keeps the files.
    pub provider: Provider,
    /// What it is to be able to do.
    pub capabilities: Capabilities,
}

/// A workspace, as it is found again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct WorkspaceRef {
    /// Who keeps the files.
    pub provider_id: String,
    /// What finds them there.
    #[serde(rename = "ref")]
    pub reference: Provider,
    /// What it can do, with the settings that hold.
    pub capabilities: Capabilities,
    /// The version of all this.
    pub schema_version: u32,
}

/// Why a workspace cannot be opened, or found again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("WorkspaceFailedError: {0}")]
pub struct WorkspaceFailed(pub String);

impl Provider {
    /// What it is called.
    pub fn id(&self) -> &'static str {
        match self {
            Provider::InMemory { .. } => "in-memory",
            Provider::Filestore { .. } => "filestore",
            Provider::LocalDirectory { .. } => "local-directory",
            Provider::Isolate { .. } => "isolate",
        }
    }

    /// Why it cannot serve a capability, where it cannot.
    fn lacks(&self, capability: &str) -> Option<String> {
        let id = self.id();
        match (capability, self) {
            ("shell" | "code", _) => Some(format!(
                "`{capability}` needs a Linux box, and there is none on this machine: declare `script` for JavaScript and TypeScript"
            )),
            ("fs" | "snapshot", Provider::Isolate { .. }) => {
                Some(format!("the provider `{id}` keeps no files: `{capability}` needs `filestore`"))
            }
            ("snapshot", Provider::InMemory { .. } | Provider::LocalDirectory { .. }) => {
                Some(format!("the provider `{id}` keeps nothing of the past: `snapshot` needs `filestore`"))
            }
            _ => None,
        }
    }
}

impl Declared {
    /// What the workspace will be able to do, with the settings that hold: the capability's before the provider's.
    pub fn open(self) -> Result<WorkspaceRef, WorkspaceFailed> {
        let names = self.capabilities.names();
        if names.is_empty() {
            return Err(WorkspaceFailed("no capability is declared: there are `fs`, `script` and `snapshot`".into()));
        }
        if let Some(why) = names.iter().find_map(|name| self.provider.lacks(name)) {
            return Err(WorkspaceFailed(why));
        }
        let mut capabilities = self.capabilities;
        if let (Some(script), Provider::Isolate { network, max_duration_ms }) =
            (&mut capabilities.script, &self.provider)
        {
            let own = script.settings();
            *script = Switch::Settings(ScriptSettings {
                network: own.network.or(*network),
                max_duration_ms: own.max_duration_ms.or(*max_duration_ms),
                ..own
            });
        }
        if let Some(script) = &mut capabilities.script {
            let own = script.settings();
            own.check()?;
            *script = Switch::Settings(ScriptSettings {
                languages: Some(own.languages.clone().unwrap_or_else(|| vec!["javascript".into()])),
                network: Some(own.network.unwrap_or(Network::Off)),
                ..own
            });
        }
        let provider_id = self.provider.id().to_owned();
        Ok(WorkspaceRef { provider_id, reference: self.provider, capabilities, schema_version: SCHEMA_VERSION })
    }
}

impl WorkspaceRef {
    /// A reference that someone sends back, if it is one.
    pub fn check(&self) -> Result<(), WorkspaceFailed> {
        if self.schema_version != SCHEMA_VERSION {
            let message = format!("the reference is of version {}, and this is {SCHEMA_VERSION}", self.schema_version);
            return Err(WorkspaceFailed(message));
        }
        if self.provider_id != self.reference.id() {
            return Err(WorkspaceFailed("the reference names two providers".into()));
        }
        match self.capabilities.names().iter().find_map(|name| self.reference.lacks(name)) {
            Some(why) => Err(WorkspaceFailed(why)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn opened(provider: serde_json::Value, capabilities: serde_json::Value) -> Result<WorkspaceRef, String> {
        let declared = json!({ "provider": provider, "capabilities": capabilities });
        let declared: Declared = serde_json::from_value(declared).map_err(|error| error.to_string())?;
        declared.open().map_err(|error| error.to_string())
    }

    #[test]
    fn the_capabilitys_settings_come_before_the_providers_and_both_are_in_the_reference() {
        let provider = json!({ "kind": "isolate", "network": "allow", "maxDurationMs": 9000 });
        let script =
            |capabilities| opened(provider.clone(), capabilities).unwrap().capabilities.script.unwrap().settings();
        let plain = script(json!({ "script": true }));
        assert_eq!((plain.network, plain.max_duration_ms), (Some(Network::Allow), Some(9000)));
        let own = script(json!({ "script": { "network": "off", "maxDurationMs": 5 } }));
        assert_eq!((own.network, own.max_duration_ms), (Some(Network::Off), Some(5)));
        let unsaid = opened(json!({ "kind": "in-memory" }), json!({ "script": {} })).unwrap();
        assert_eq!(
            unsaid.capabilities.script.as_ref().unwrap().settings().network,
            Some(Network::Off),
            "off unless said"
        );
        let text = serde_json::to_string(&unsaid).unwrap();
        let back: WorkspaceRef = serde_json::from_str(&text).unwrap();
        assert_eq!(back, unsaid);
        assert!(back.check().is_ok());
    }

    #[test]
    fn what_cannot_be_served_fails_when_it_is_opened() {
        for (provider, capabilities, why) in [
            (json!({ "kind": "filestore" }), json!({ "shell": true }), "needs a Linux box"),
            (
                json!({ "kind": "filestore" }),
                json!({ "fs": true, "code": { "languages": ["python"] } }),
                "needs a Linux box",
            ),
            (json!({ "kind": "isolate" }), json!({ "fs": true }), "keeps no files"),
            (json!({ "kind": "in-memory" }), json!({ "snapshot": true }), "keeps nothing of the past"),
            (json!({ "kind": "in-memory" }), json!({}), "no capability"),
            (json!({ "kind": "in-memory" }), json!({ "fs": false }), "no capability"),
            (json!({ "kind": "in-memory" }), json!({ "script": { "languages": ["python"] } }), "JavaScript"),
            (json!({ "kind": "docker" }), json!({ "fs": true }), "unknown variant"),
            (json!({ "kind": "in-memory", "x": 1 }), json!({ "fs": true }), "unknown field"),
            (json!({ "kind": "in-memory" }), json!({ "files": true }), "unknown field"),
        ] {
            let error = opened(provider.clone(), capabilities.clone()).unwrap_err();
            assert!(error.contains(why), "{provider} {capabilities}: {error}");
        }
    }

    #[test]
    fn a_reference_that_was_changed_is_refused() {
        let fine = opened(json!({ "kind": "filestore", "session": "s" }), json!({ "fs": true })).unwrap();
        let changed = WorkspaceRef { provider_id: "isolate".into(), ..fine.clone() };
        assert!(changed.check().is_err());
        assert!(WorkspaceRef { schema_version: 2, ..fine.clone() }.check().is_err());
        let mut value = serde_json::to_value(&fine).unwrap();
        value["more"] = json!(1);
        assert!(serde_json::from_value::<WorkspaceRef>(value).is_err(), "nothing is in it that nobody knows");
    }
}
