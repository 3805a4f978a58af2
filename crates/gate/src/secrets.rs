//! Secrets, from wherever they are kept to whoever was granted their use.

mod source;

use isolith_core::{CallError, Grant, Power, Rule, SecretGrant, SecretName, SecretSource, SecretStore};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use tokio::sync::OnceCell;
use zeroize::Zeroizing;

/// The most a secret may hold.
const VALUE_BYTES_MAX: usize = 64 << 10;

/// A secret's value. It is shown as `***` and wiped when it goes.
#[derive(Clone)]
pub struct Secret(Arc<Zeroizing<String>>);

impl Secret {
    /// Takes a value in.
    pub fn new(value: String) -> Self {
        Secret(Arc::new(Zeroizing::new(value)))
    }

    /// The value itself, for the one place that puts it to use.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

// THREAT[T-SECRET-011]: values reach logs by being printed with what they are part of.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The secrets of one run: those its grants name, read when first needed and kept until it ends.
pub struct Vault {
    // What is not granted is not in here, so there is nothing to ask for.
    entries: BTreeMap<SecretName, Entry>,
    store: Option<Arc<dyn SecretStore>>,
}

struct Entry {
    from: Option<SecretSource>,
    value: OnceCell<Secret>,
}

impl Vault {
    /// The secrets that these grants allow the use of. A grant that denies one wins over all that allow it.
    pub fn new(grants: &[Grant], store: Option<Arc<dyn SecretStore>>) -> Self {
        // THREAT[T-SECRET-012]: the names in a vault are decided once, by grants, and not by whoever asks.
        let mut entries = BTreeMap::new();
        let of = |rule: fn(Rule) -> bool| {
            grants.iter().filter(move |grant| rule(grant.rule)).filter_map(|grant| match &grant.power {
                Power::Secret(secret) => Some(secret),
                _ => None,
            })
        };
        for SecretGrant { name, from, .. } in of(|rule| rule != Rule::Deny) {
            let entry = || Entry { from: from.clone(), value: OnceCell::new() };
            entries.entry(name.clone()).or_insert_with(entry);
        }
        for denied in of(|rule| rule == Rule::Deny) {
            entries.remove(&denied.name);
        }
        Vault { entries, store }
    }

    /// The value of a secret. Calls at the same time read it once; a failure is tried again by the next call.
    pub async fn get(&self, name: &SecretName) -> Result<Secret, CallError> {
        let entry = self.entries.get(name).ok_or_else(|| CallError {
            name: "DeniedError".into(),
            message: format!("the secret `{name}` is not granted"),
            code: Some("secret.denied".into()),
        })?;
        let read = || async {
            let from = entry.from.clone().unwrap_or_else(|| SecretSource::Store(name.clone()));
            let value = source::read(&from, self.store.clone()).await;
            value.map(|value| Secret(Arc::new(value))).map_err(|why| CallError {
                name: "Error".into(),
                message: format!("the secret `{name}` has no value: {}{why}", source::shown(&from)),
                code: Some("secret.missing".into()),
            })
        };
        entry.value.get_or_try_init(read).await.cloned()
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.entries.keys()).finish()
    }
}
