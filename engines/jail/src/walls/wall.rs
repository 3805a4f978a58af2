use serde::{Deserialize, Serialize};
use std::fmt;

/// One thing that is taken from a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wall {
    /// It dies with whoever started it.
    ParentDeath,
    /// No program that it starts could have more rights.
    NoNewPrivileges,
    /// A user who owns nothing.
    User,
    /// A user namespace of its own.
    UserNamespace,
    /// A network without anything in it.
    NetworkNamespace,
    /// Mounts of its own.
    MountNamespace,
    /// Queues and shared memory of its own.
    IpcNamespace,
    /// A host name of its own.
    UtsNamespace,
    /// No other process can be seen or named.
    PidNamespace,
    /// An empty folder is all there is of files.
    EmptyRoot,
    /// No variable of the environment.
    Environment,
    /// No descriptor but those it talks through.
    Descriptors,
    /// No capability.
    Capabilities,
    /// Landlock: no file and no port, whatever else fails.
    Landlock,
    /// Files, processes and core dumps are limited to none.
    Limits,
    /// Only the system calls of a running engine.
    SystemCalls,
}

impl Wall {
    /// Every wall, in the order in which they are put up.
    pub const ALL: [Wall; 16] = [
        Wall::ParentDeath,
        Wall::NoNewPrivileges,
        Wall::Environment,
        Wall::NetworkNamespace,
        Wall::MountNamespace,
        Wall::IpcNamespace,
        Wall::UtsNamespace,
        Wall::EmptyRoot,
        Wall::User,
        Wall::UserNamespace,
        Wall::PidNamespace,
        Wall::Descriptors,
        Wall::Capabilities,
        Wall::Landlock,
        Wall::Limits,
        Wall::SystemCalls,
    ];

    /// Its name as reports have it.
    pub fn name(self) -> &'static str {
        match self {
            Wall::ParentDeath => "parent_death",
            Wall::NoNewPrivileges => "no_new_privileges",
            Wall::User => "user",
            Wall::UserNamespace => "user_namespace",
            Wall::NetworkNamespace => "network_namespace",
            Wall::MountNamespace => "mount_namespace",
            Wall::IpcNamespace => "ipc_namespace",
            Wall::UtsNamespace => "uts_namespace",
            Wall::PidNamespace => "pid_namespace",
            Wall::EmptyRoot => "empty_root",
            Wall::Environment => "environment",
            Wall::Descriptors => "descriptors",
            Wall::Capabilities => "capabilities",
            Wall::Landlock => "landlock",
            Wall::Limits => "limits",
            Wall::SystemCalls => "system_calls",
        }
    }
}

impl fmt::Display for Wall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether one wall stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WallReport {
    /// Which.
    pub wall: Wall,
    /// Why it does not stand; nothing when it does.
    pub missing: Option<String>,
}

/// The walls of a worker, as far as they are known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jail {
    walls: Vec<WallReport>,
}

impl Jail {
    /// Notes how a wall came out.
    pub(crate) fn note<E: fmt::Display>(&mut self, wall: Wall, result: Result<(), E>) {
        let missing = result.err().map(|error| error.to_string());
        self.walls.retain(|known| known.wall != wall);
        self.walls.push(WallReport { wall, missing });
    }

    /// Whether a wall is known to stand.
    pub(crate) fn stands(&self, wall: Wall) -> bool {
        self.walls.iter().any(|known| known.wall == wall && known.missing.is_none())
    }

    /// Every wall and whether it stands. One that nobody has put up is missing.
    pub fn report(&self) -> Vec<WallReport> {
        let known = |wall: Wall| self.walls.iter().find(|known| known.wall == wall).cloned();
        let absent = |wall| WallReport { wall, missing: Some("not put up".into()) };
        Wall::ALL.into_iter().map(|wall| known(wall).unwrap_or_else(|| absent(wall))).collect()
    }

    /// The walls that do not stand.
    pub fn missing(&self) -> Vec<WallReport> {
        self.report().into_iter().filter(|report| report.missing.is_some()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wall_that_nobody_put_up_is_missing() {
        let mut jail = Jail::default();
        jail.note::<&str>(Wall::User, Ok(()));
        jail.note(Wall::Landlock, Err("no such call"));
        let missing = jail.missing();
        assert_eq!(missing.len(), Wall::ALL.len() - 1);
        let landlock = WallReport { wall: Wall::Landlock, missing: Some("no such call".into()) };
        assert!(missing.contains(&landlock));
    }

    #[test]
    fn every_wall_is_listed_once_and_named_as_it_is_written() -> serde_json::Result<()> {
        let names = Wall::ALL.map(Wall::name);
        assert_eq!(names.iter().collect::<std::collections::BTreeSet<_>>().len(), Wall::ALL.len());
        for wall in Wall::ALL {
            assert_eq!(serde_json::to_string(&wall)?, format!("\"{wall}\""));
        }
        Ok(())
    }
}
