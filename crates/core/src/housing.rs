use serde::{Deserialize, Serialize};
use std::fmt;

/// Which engine runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineChoice {
    /// Starts in microseconds, and interprets.
    Quickjs,
    /// Compiles, in a jailed process.
    V8,
    /// Begins on `quickjs`, and goes on in `v8` when it computes for long.
    Auto,
}

impl EngineChoice {
    /// Every one.
    pub const ALL: [EngineChoice; 3] = [EngineChoice::Quickjs, EngineChoice::V8, EngineChoice::Auto];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            EngineChoice::Quickjs => "quickjs",
            EngineChoice::V8 => "v8",
            EngineChoice::Auto => "auto",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<EngineChoice> {
        EngineChoice::ALL.into_iter().find(|choice| choice.name() == name)
    }
}

impl fmt::Display for EngineChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What stands around a program besides its engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// Nothing: an isolate beside others, in the process that performs what they ask for.
    #[default]
    None,
    /// A process of its own that holds nothing, in a jail.
    Process,
}

impl Isolation {
    /// The one of this name.
    pub fn named(name: &str) -> Option<Isolation> {
        match name {
            "none" => Some(Isolation::None),
            "process" => Some(Isolation::Process),
            _ => None,
        }
    }
}

/// What a program is to run on, and in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Housing {
    /// The engine; without a word about it, `quickjs`.
    pub engine: Option<EngineChoice>,
    /// What stands around it.
    pub isolation: Isolation,
}

/// A policy has programs run on another engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the policy has programs run on `{allowed}`, and not on `{wanted}`")]
pub struct OtherEngine {
    /// What the policy names.
    pub allowed: EngineChoice,
    /// What was asked for.
    pub wanted: EngineChoice,
}

impl Housing {
    /// What is left to choose under a policy: its engine, and no fewer walls than it wants.
    pub fn under(self, policy: Housing) -> Result<Housing, OtherEngine> {
        let engine = match (self.engine, policy.engine) {
            (Some(wanted), Some(allowed)) if wanted != allowed => return Err(OtherEngine { allowed, wanted }),
            (wanted, allowed) => wanted.or(allowed),
        };
        Ok(Housing { engine, isolation: self.isolation.max(policy.isolation) })
    }

    /// The same, where someone has said more: a flag counts before a file.
    pub fn or(self, said_before: Housing) -> Housing {
        Housing { engine: self.engine.or(said_before.engine), isolation: self.isolation.max(said_before.isolation) }
    }

    /// The same for a program that has to be able to leave memory; nothing where it could not. `auto` stays where it begins then.
    pub fn that_suspends(self) -> Option<Housing> {
        let engine = match self.engine() {
            EngineChoice::V8 => return None,
            EngineChoice::Quickjs | EngineChoice::Auto => Some(EngineChoice::Quickjs),
        };
        Some(Housing { engine, ..self })
    }

    /// The engine.
    pub fn engine(self) -> EngineChoice {
        self.engine.unwrap_or(EngineChoice::Quickjs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_takes_choices_away_and_never_walls() {
        let wants = |engine, isolation| Housing { engine, isolation };
        let free = Housing::default();
        let v8 = wants(Some(EngineChoice::V8), Isolation::None);
        let jailed = wants(Some(EngineChoice::Quickjs), Isolation::Process);
        assert_eq!(v8.under(free), Ok(v8));
        assert_eq!(free.under(jailed), Ok(jailed));
        assert!(v8.under(jailed).is_err());
        for engine in [None, Some(EngineChoice::Quickjs)] {
            for isolation in [Isolation::None, Isolation::Process] {
                assert_eq!(wants(engine, isolation).under(jailed), Ok(jailed));
            }
        }
    }

    #[test]
    fn what_has_to_leave_memory_keeps_its_walls() {
        let suspends = |engine| Housing { engine, isolation: Isolation::Process }.that_suspends();
        let quickjs = Housing { engine: Some(EngineChoice::Quickjs), isolation: Isolation::Process };
        for engine in [None, Some(EngineChoice::Quickjs), Some(EngineChoice::Auto)] {
            assert_eq!(suspends(engine), Some(quickjs));
        }
        assert_eq!(suspends(Some(EngineChoice::V8)), None);
    }

    #[test]
    fn every_engine_has_the_name_it_is_written_with() {
        for choice in EngineChoice::ALL {
            assert_eq!(serde_json::to_string(&choice).unwrap_or_default(), format!("\"{choice}\""));
            assert_eq!(EngineChoice::named(choice.name()), Some(choice));
        }
    }
}
