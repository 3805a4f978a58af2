//! Names and addresses that lead to fixtures on loopback, so that tests can use public names without the internet.

use super::error;
use isolith_core::CallError;
use serde_json::Value;
use std::collections::HashMap;
use std::io::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The file that holds a map, as JSON, for processes under test.
const MAP_VARIABLE: &str = "ISOLITH_TEST_NET";

/// A map of the network: `{"resolve": {"api.example": ["203.0.113.5"]}, "dial": {"203.0.113.5:443": "127.0.0.1:8443"}}`.
///
/// A name may have a list of lists, for one lookup after the other (the last stays), and `"TIMEOUT"` in place of a list: no
/// answer ever comes. Names that are not in it do not exist. Whatever is dialled and not in it is refused, counted, and
/// written to the file that `"log"` names. Addresses for documentation count as public.
#[derive(Debug)]
pub struct TestNet {
    names: HashMap<String, Vec<Answer>>,
    asked: Mutex<HashMap<String, usize>>,
    dials: HashMap<SocketAddr, SocketAddr>,
    log: Option<PathBuf>,
    refused: AtomicU64,
}

#[derive(Clone, Debug)]
enum Answer {
    Addresses(Vec<IpAddr>),
    Never,
}

/// A map that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the map of the test network cannot be used: {0}")]
pub struct TestNetError(String);

impl TestNet {
    /// Reads a map.
    pub fn from_json(text: &str) -> Result<TestNet, TestNetError> {
        let map: Value = serde_json::from_str(text).map_err(|error| TestNetError(error.to_string()))?;
        let table = |key: &str| map[key].as_object().cloned().unwrap_or_default();
        let mut dials = HashMap::new();
        for (from, to) in table("dial") {
            let address = |text: &str| text.parse().map_err(|_| TestNetError(format!("`{text}` is not ADDRESS:PORT")));
            dials.insert(address(&from)?, address(to.as_str().unwrap_or_default())?);
        }
        Ok(TestNet {
            names: table("resolve").iter().map(|(name, value)| (name.clone(), answers(value))).collect(),
            asked: Mutex::default(),
            dials,
            log: map["log"].as_str().map(PathBuf::from),
            refused: AtomicU64::new(0),
        })
    }

    /// The map of this process, if it has one.
    pub(super) fn from_environment() -> Result<Option<TestNet>, TestNetError> {
        let Some(path) = std::env::var_os(MAP_VARIABLE) else { return Ok(None) };
        let text = std::fs::read_to_string(path).map_err(|error| TestNetError(error.to_string()))?;
        TestNet::from_json(&text).map(Some)
    }

    /// How often something was dialled that is not in the map.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// How often a name was looked up.
    pub fn lookups(&self, name: &str) -> usize {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).get(name).copied().unwrap_or(0)
    }

    pub(super) async fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, CallError> {
        let turn = {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            let turns = asked.entry(name.to_owned()).or_default();
            *turns += 1;
            *turns - 1
        };
        let answer = self.names.get(name).and_then(|answers| answers.get(turn).or_else(|| answers.last())).cloned();
        match answer {
            Some(Answer::Addresses(addresses)) => Ok(addresses),
            Some(Answer::Never) => std::future::pending().await,
            None => Err(error::network("egress.dns", format!("`{name}` cannot be found: there is no such name"))),
        }
    }

    pub(super) fn dial(&self, address: SocketAddr) -> std::io::Result<SocketAddr> {
        if let Some(to) = self.dials.get(&address) {
            return Ok(*to);
        }
        self.refused.fetch_add(1, Ordering::Relaxed);
        if let Some(log) = &self.log {
            let mut file = std::fs::File::options().create(true).append(true).open(log)?;
            writeln!(file, "{address}")?;
        }
        Err(std::io::Error::other(format!("{address} is not in the map of the test network")))
    }

    pub(super) fn is_documentation(address: IpAddr) -> bool {
        match address {
            IpAddr::V4(v4) => v4.is_documentation(),
            IpAddr::V6(v6) => v6.segments()[..2] == [0x2001, 0xdb8],
        }
    }
}

fn answers(value: &Value) -> Vec<Answer> {
    match value {
        Value::Array(items) if items.iter().any(Value::is_array) => items.iter().map(answer).collect(),
        one => vec![answer(one)],
    }
}

fn answer(value: &Value) -> Answer {
    let items = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    if items.iter().any(|item| item == "TIMEOUT") {
        return Answer::Never;
    }
    // What is no address (`CNAME …` and other records) is what a resolver went through to get to the addresses.
    Answer::Addresses(items.iter().filter_map(Value::as_str).filter_map(|text| text.parse().ok()).collect())
}
