use super::{
    BindingName, Budget, Builtin, Egress, FilesGrant, InvokeGrant, KvGrant, Rule, SecretGrant, ToolGrant, ToolName,
    ToolPattern,
};
use serde::{Deserialize, Serialize};

/// One capability given to a run. What was not granted does not exist in the guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// What it is about.
    pub power: Power,
    /// Whether it allows, asks or forbids.
    pub rule: Rule,
    /// How often it may be used; all of these are counted.
    pub budgets: Vec<Budget>,
}

/// What a grant is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Power {
    /// Requests to the network.
    Egress(Egress),
    /// A space of keys.
    Kv(KvGrant),
    /// Files.
    Files(FilesGrant),
    /// A function of the embedder.
    Tool(ToolGrant),
    /// Another program.
    Invoke(InvokeGrant),
    /// A secret.
    Secret(SecretGrant),
    /// A part of the language. There is no call that could be asked about or counted: it is there or not.
    Builtin(Builtin),
}

impl Grant {
    /// Allows something, without counting.
    pub fn allow(power: Power) -> Self {
        Grant { power, rule: Rule::Allow, budgets: Vec::new() }
    }

    /// Allows a function that the embedder brings.
    pub fn tool(name: impl Into<ToolPattern>) -> Self {
        Grant::allow(Power::Tool(ToolGrant::new(name)))
    }
}

impl From<Power> for Grant {
    fn from(power: Power) -> Grant {
        Grant::allow(power)
    }
}

/// The names under which a guest finds what it was granted. All that an engine needs to know of grants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bindings {
    /// `tools.<name>`.
    pub tools: Vec<BindingName>,
    /// `tools.<namespace>`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<BindingName>,
    /// Functions of these that are granted by name: `external_<namespace>_<function>`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<ToolName>,
    /// `kv.<name>`.
    pub kv: Vec<BindingName>,
    /// What `invoke` takes.
    pub invoke: Vec<BindingName>,
    /// Whether there is `fetch`.
    pub fetch: bool,
    /// Whether there is `files`.
    pub files: bool,
    /// What `secrets.get` takes.
    pub secrets: Vec<super::SecretName>,
    /// What there is of the language besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub builtins: Vec<Builtin>,
}

impl Bindings {
    /// The bindings of these grants. What is only forbidden binds nothing.
    pub fn of(grants: &[Grant]) -> Self {
        let mut bindings = Bindings::default();
        for grant in grants.iter().filter(|grant| grant.rule != Rule::Deny) {
            match &grant.power {
                Power::Egress(_) => bindings.fetch = true,
                Power::Files(_) => bindings.files = true,
                Power::Kv(kv) => add(&mut bindings.kv, &kv.name),
                Power::Tool(tool) => bindings.tool(&tool.name),
                Power::Invoke(invoke) => add(&mut bindings.invoke, &invoke.name),
                Power::Secret(secret) if secret.reveal => add(&mut bindings.secrets, &secret.name),
                Power::Secret(_) => {}
                Power::Builtin(builtin) => add(&mut bindings.builtins, builtin),
            }
        }
        // Calls are held against what is forbidden one by one. Here there is none.
        let forbidden = |builtin: &Builtin| {
            grants.iter().any(|grant| grant.rule == Rule::Deny && grant.power == Power::Builtin(*builtin))
        };
        bindings.builtins.retain(|builtin| !forbidden(builtin));
        bindings
    }

    fn tool(&mut self, pattern: &ToolPattern) {
        let binding = |name: &str| BindingName::new(name).ok();
        match (pattern.namespace(), pattern.exact()) {
            (None, name) => {
                name.and_then(|name| binding(name.as_str())).iter().for_each(|name| add(&mut self.tools, name));
            }
            (Some(namespace), name) => {
                binding(namespace).iter().for_each(|name| add(&mut self.namespaces, name));
                name.into_iter().for_each(|name| add(&mut self.functions, name));
            }
        }
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        *self == Bindings::default()
    }
}

fn add<T: Clone + PartialEq>(names: &mut Vec<T>, name: &T) {
    if !names.contains(name) {
        names.push(name.clone());
    }
}
