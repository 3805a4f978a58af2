use serde::{Deserialize, Serialize};
use std::fmt;

/// The kind of machine the numbers come from; nothing that names one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Cores that this process may use.
    pub cores: usize,
    /// The processor, as it calls itself.
    pub cpu: String,
    /// The kernel's version.
    pub kernel: String,
    /// How many threads wanted a core in the last minute, when measuring began. More than the cores: expect noise.
    pub load: f64,
}

impl Machine {
    /// Looks at the machine at hand.
    pub fn here() -> Machine {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let cpuinfo = read("/proc/cpuinfo");
        let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
        let release = read("/proc/sys/kernel/osrelease");
        // Only the version: what a distribution or a provider adds says nothing about speed.
        let version = release.split(|c: char| c != '.' && !c.is_ascii_digit()).next().unwrap_or_default();
        Machine {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            cpu: model.map_or("unknown", |(_, name)| name.trim()).to_owned(),
            kernel: format!("Linux {version}"),
            load: read("/proc/loadavg").split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0.0),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cores of {}, {}, load {:.1}", self.cores, self.cpu, self.kernel, self.load)
    }
}
