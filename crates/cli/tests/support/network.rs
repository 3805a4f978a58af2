//! The map that the binary under test takes for the network: public names and addresses that lead to fixtures.

use super::Folder;
use serde_json::{Map, Value, json};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// The variable that names the map; binaries without the feature `test-net` do not look at it.
pub const MAP_VARIABLE: &str = "ISOLITH_TEST_NET";

/// A map under construction.
#[derive(Default)]
pub struct Network {
    resolve: Map<String, Value>,
    dial: Map<String, Value>,
}

impl Network {
    /// A name and what is answered for it: a list of addresses, or a list of such lists, one for each lookup.
    pub fn name(mut self, name: &str, answers: Value) -> Network {
        self.resolve.insert(name.to_owned(), answers);
        self
    }

    /// Connections to this address end at that fixture.
    pub fn dial(mut self, address: &str, port: u16, fixture: SocketAddr) -> Network {
        let address = SocketAddr::new(address.parse::<IpAddr>().unwrap(), port);
        self.dial.insert(address.to_string(), json!(fixture.to_string()));
        self
    }

    /// A name with an address of its own, all of whose connections to `port` end at the fixture.
    pub fn host(self, name: &str, address: &str, port: u16, fixture: SocketAddr) -> Network {
        self.name(name, json!([address])).dial(address, port, fixture)
    }

    /// Writes the map into a folder, and says where it is.
    pub fn write(self, folder: &Folder) -> PathBuf {
        let log = folder.path().join(DIALS);
        let map = json!({ "resolve": self.resolve, "dial": self.dial, "log": log });
        folder.write("network.json", &map.to_string());
        folder.path().join("network.json")
    }
}

const DIALS: &str = "dials.log";

/// What was dialled and is not in the map: refused there, and written down.
pub fn stray_dials(folder: &Folder) -> Vec<SocketAddr> {
    let text = std::fs::read_to_string(folder.path().join(DIALS)).unwrap_or_default();
    text.lines().map(|line| line.parse().unwrap()).collect()
}
