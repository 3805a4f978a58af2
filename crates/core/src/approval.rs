//! Calls that are made only if someone agrees to them.

use crate::{CallId, CallerId, Json, RunId, Timestamp};
use serde::{Deserialize, Serialize};

/// A call that waits for someone's word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// Which call of its run.
    pub id: CallId,
    /// The grant that wants someone to be asked: `ask tool:deploy`.
    pub grant: String,
    /// What is to be done: ``the tool `deploy` ``, `POST https://api.example.com/v1/orders`.
    pub what: String,
    /// What a tool or a program is to be called with. Whoever agrees can change this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Json>,
    /// Since when it waits.
    pub asked_us: Timestamp,
    /// Until when: then the answer is no.
    pub expires_us: Timestamp,
}

/// Whether a call is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Yes.
    Approve,
    /// No: the program gets an error that it can catch.
    Deny,
}

/// What a yes is good for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consent {
    /// This call.
    #[default]
    Once,
    /// Everything that the same grant asks about in the same run.
    Run,
    /// The same for every run of exactly this program.
    Always,
}

/// Someone's word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// Yes or no.
    pub decision: Decision,
    /// What a yes is good for.
    #[serde(default)]
    pub consent: Consent,
    /// What to call it with instead. It has to be granted like everything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Json>,
    /// Why not, in words that the program sees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Verdict {
    /// The longest reason.
    pub const REASON_CHARS_MAX: usize = 1_000;

    /// A yes that is good for this much.
    pub fn approve(consent: Consent) -> Verdict {
        Verdict { decision: Decision::Approve, consent, args: None, reason: None }
    }

    /// A no, with a reason where there is one.
    pub fn deny(reason: Option<String>) -> Verdict {
        Verdict { decision: Decision::Deny, consent: Consent::Once, args: None, reason }
    }

    /// Refuses what cannot be meant about this call.
    pub fn check(&self, ask: &Ask) -> Result<(), String> {
        let long = |reason: &String| reason.chars().count() > Verdict::REASON_CHARS_MAX;
        if self.reason.as_ref().is_some_and(long) {
            return Err(format!("a reason has at most {} characters", Verdict::REASON_CHARS_MAX));
        }
        match (self.decision, &self.args) {
            (Decision::Deny, Some(_)) => Err("a call that is denied is not made with other arguments either".into()),
            (Decision::Deny, None) if self.consent != Consent::Once => Err("a no is good for this call only".into()),
            (Decision::Approve, _) if self.reason.is_some() => Err("only a no has a reason".into()),
            (Decision::Approve, Some(_)) if ask.args.is_none() => {
                Err(format!("{} has no arguments that could be changed", ask.what))
            }
            (Decision::Approve, Some(_)) if self.consent != Consent::Once => {
                Err("changed arguments are good for this call only".into())
            }
            _ => Ok(()),
        }
    }
}

/// A call that waits, or waited, for someone's word, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// Whose run.
    pub caller: CallerId,
    /// Which run.
    pub run: RunId,
    /// What is asked.
    pub ask: Ask,
    /// What was said, when, and by whom.
    pub said: Option<Said>,
    /// Whether the run has taken it up: a call is begun once, whatever happens to the process.
    pub begun: bool,
}

/// A word that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The word.
    pub verdict: Verdict,
    /// Who gave it, by the door they came through: `terminal`, `http`, `mcp`.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

/// What became of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It is kept.
    Yes,
    /// Someone was earlier.
    Twice,
    /// Its time is over, which is a no.
    Late,
    /// Nobody asks about that call.
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(args: Option<&str>) -> Ask {
        Ask {
            id: CallId(1),
            grant: "ask tool:t".into(),
            what: "the tool `t`".into(),
            args: args.map(|text| Json::from_text(text.to_owned()).unwrap()),
            asked_us: Timestamp::default(),
            expires_us: Timestamp::default(),
        }
    }

    #[test]
    fn a_word_has_to_make_sense() {
        let (with, without) = (ask(Some("[1]")), ask(None));
        let args = Json::from_text("[2]".to_owned()).ok();
        let edited = Verdict { args: args.clone(), ..Verdict::approve(Consent::Once) };
        assert_eq!(edited.check(&with), Ok(()));
        assert_eq!(Verdict::deny(Some("no".into())).check(&without), Ok(()));
        for (verdict, ask) in [
            (edited.clone(), &without),
            (Verdict { consent: Consent::Run, ..edited }, &with),
            (Verdict { args, ..Verdict::deny(None) }, &with),
            (Verdict { consent: Consent::Always, ..Verdict::deny(None) }, &with),
            (Verdict { reason: Some("x".into()), ..Verdict::approve(Consent::Once) }, &with),
            (Verdict::deny(Some("x".repeat(1_001))), &with),
        ] {
            assert!(verdict.check(ask).is_err(), "{verdict:?}");
        }
    }
}
