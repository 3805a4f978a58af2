//! What is known of a run, from what was heard of it.

use super::agent::{Agent, LINE_BYTES_MAX, State, fault, usage};
use super::clean;
use isolith_workflow::Event;
use std::collections::{HashMap, VecDeque};

/// How many agents are kept; those beyond are only counted.
pub(super) const AGENTS_MAX: usize = 2_000;
/// How many phases are told apart; the last one takes all others.
const PHASES_MAX: usize = 200;
/// How many lines of the log are kept, and how much of each.
const LOGS_MAX: usize = 200;
const LOG_BYTES_MAX: usize = 2 << 10;
/// How many open questions are kept.
const QUESTIONS_MAX: usize = 50;

/// A run as it stands. All of its texts are fit to be shown.
#[derive(Debug, Default)]
pub(crate) struct Board {
    pub(super) name: String,
    pub(super) run: String,
    pub(super) budget: Option<u64>,
    pub(super) phases: Vec<Phase>,
    pub(super) logs: VecDeque<String>,
    pub(super) questions: Vec<Question>,
    pub(super) ended: Option<Ended>,
    /// The agent that was last heard to begin.
    pub(super) latest: Place,
    /// When something was last heard.
    pub(super) heard_at: u64,
    started_at: Option<u64>,
    places: HashMap<String, Place>,
    beyond: Totals,
}

/// A phase, with its agents in the order of their calls.
#[derive(Debug)]
pub(super) struct Phase {
    pub(super) name: String,
    pub(super) agents: Vec<Agent>,
}

/// Where an agent is on the board. Nothing is ever taken from it, so this stays true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) phase: usize,
    pub(super) agent: usize,
}

/// Something that a person was asked and did not answer yet.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) key: String,
    pub(super) text: String,
}

/// How a run ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) at: u64,
    /// Why, when it did not succeed.
    pub(super) failure: Option<String>,
}

/// Sums over agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) agents: usize,
    /// Those that are over, whichever way.
    pub(super) over: usize,
    pub(super) failed: usize,
    pub(super) working: usize,
    pub(super) input_tokens: u64,
    /// What a budget is spent on.
    pub(super) output_tokens: u64,
}

impl Board {
    /// Takes in what happened. Kinds that it does not know are passed over.
    pub(crate) fn hear(&mut self, event: &Event) {
        self.heard_at = self.heard_at.max(event.at);
        match event.kind.as_str() {
            "run-started" => {
                self.name = clean::line(event.text("name").unwrap_or_default(), LINE_BYTES_MAX);
                self.budget = event.about.get("budgetTotal").and_then(serde_json::Value::as_u64);
                self.begin(event);
            }
            "run-resumed" => {
                self.phases.iter_mut().flat_map(|phase| &mut phase.agents).for_each(Agent::interrupt);
                self.questions.clear();
                self.begin(event);
            }
            "run-finished" => self.end(event),
            "phase-started" => {
                self.phase(event.text("phase").unwrap_or_default());
            }
            "question-asked" => self.ask(event),
            "question-answered" => {
                let key = key(event);
                self.questions.retain(|question| question.key != key);
            }
            "log" => {
                self.logs.truncate(LOGS_MAX - 1);
                self.logs.push_front(clean::line(event.text("message").unwrap_or_default(), LOG_BYTES_MAX));
            }
            kind if kind.starts_with("agent-") => self.hear_agent(event),
            _ => {}
        }
    }

    /// Sums over all agents, those too that are not kept.
    pub(super) fn totals(&self) -> Totals {
        self.phases.iter().fold(self.beyond, |sum, phase| sum.and(phase.totals()))
    }

    pub(super) fn agent(&self, place: Place) -> Option<&Agent> {
        self.phases.get(place.phase)?.agents.get(place.agent)
    }

    /// The time that counts: it stands still when the run is over.
    pub(super) fn clock(&self, now_ms: u64) -> u64 {
        self.ended.as_ref().map_or(now_ms, |ended| ended.at)
    }

    pub(super) fn elapsed_ms(&self, now_ms: u64) -> u64 {
        self.started_at.map_or(0, |started| self.clock(now_ms).saturating_sub(started))
    }

    fn begin(&mut self, event: &Event) {
        self.run = clean::line(event.text("runId").unwrap_or_default(), LINE_BYTES_MAX);
        self.started_at.get_or_insert(event.at);
        self.ended = None;
    }

    fn end(&mut self, event: &Event) {
        let status = event.text("status").unwrap_or("failed");
        let why = || event.about.get("error").map_or_else(|| status.to_owned(), fault);
        let failure = (status != "finished").then(|| clean::line(&why(), LOG_BYTES_MAX));
        self.ended = Some(Ended { at: event.at, failure });
        self.questions.clear();
    }

    fn ask(&mut self, event: &Event) {
        let choices = event.about.get("choices").and_then(serde_json::Value::as_array);
        let choices: Vec<&str> = choices.into_iter().flatten().filter_map(serde_json::Value::as_str).collect();
        let mut text = event.text("question").unwrap_or_default().to_owned();
        if !choices.is_empty() {
            text = format!("{text} [{}]", choices.join(" / "));
        }
        let (key, text) = (key(event), clean::line(&text, LOG_BYTES_MAX));
        self.questions.retain(|question| question.key != key);
        if self.questions.len() < QUESTIONS_MAX {
            self.questions.push(Question { key, text });
        }
    }

    fn hear_agent(&mut self, event: &Event) {
        let Some(place) = self.place(event) else { return self.count(event) };
        if matches!(event.kind.as_str(), "agent-queued" | "agent-started") {
            self.latest = place;
        }
        if let Some(agent) = self.phases.get_mut(place.phase).and_then(|phase| phase.agents.get_mut(place.agent)) {
            agent.hear(event);
        }
    }

    /// Where the agent of an event is; one that is new gets a place, unless there is none left.
    fn place(&mut self, event: &Event) -> Option<Place> {
        let key = key(event);
        if let Some(place) = self.places.get(&key) {
            return Some(*place);
        }
        if self.places.len() >= AGENTS_MAX {
            return None;
        }
        // Whoever begins to listen late did not hear it queued; its key tells the same.
        let mut parts = event.text("key").unwrap_or_default().splitn(3, ':').skip(1);
        let (in_phase, called) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let phase = self.phase(event.text("phase").unwrap_or(in_phase));
        let agents = &mut self.phases.get_mut(phase)?.agents;
        agents.push(Agent::new(event.text("label").unwrap_or(called)));
        let place = Place { phase, agent: agents.len() - 1 };
        self.places.insert(key, place);
        Some(place)
    }

    /// The number of a phase; one that is new comes last.
    fn phase(&mut self, name: &str) -> usize {
        let name = clean::line(name, LINE_BYTES_MAX);
        if let Some(known) = self.phases.iter().position(|phase| phase.name == name) {
            return known;
        }
        match self.phases.len() {
            PHASES_MAX.. => return PHASES_MAX - 1,
            count if count == PHASES_MAX - 1 => self.phases.push(Phase::new("… others".into())),
            _ => self.phases.push(Phase::new(name)),
        }
        self.phases.len() - 1
    }

    /// Counts what happens to an agent that is not kept.
    fn count(&mut self, event: &Event) {
        let beyond = &mut self.beyond;
        match event.kind.as_str() {
            "agent-queued" => beyond.agents += 1,
            "agent-started" => beyond.working += 1,
            "agent-finished" | "agent-failed" => {
                let (input, output) = usage(event);
                beyond.over += 1;
                beyond.working = beyond.working.saturating_sub(1);
                beyond.failed += usize::from(event.kind == "agent-failed");
                beyond.input_tokens = beyond.input_tokens.saturating_add(input);
                beyond.output_tokens = beyond.output_tokens.saturating_add(output);
            }
            _ => {}
        }
    }
}

/// The key that an agent or a question is known by. It begins with a number of its own, so a cut does no harm.
fn key(event: &Event) -> String {
    clean::line(event.text("key").unwrap_or_default(), LINE_BYTES_MAX)
}

impl Phase {
    fn new(name: String) -> Phase {
        Phase { name, agents: Vec::new() }
    }

    pub(super) fn totals(&self) -> Totals {
        let one = |agent: &Agent| Totals {
            agents: 1,
            over: usize::from(agent.state.is_over()),
            failed: usize::from(agent.state == State::Failed),
            working: usize::from(agent.state == State::Working),
            input_tokens: agent.input_tokens,
            output_tokens: agent.output_tokens,
        };
        self.agents.iter().fold(Totals::default(), |sum, agent| sum.and(one(agent)))
    }
}

impl Totals {
    fn and(self, other: Totals) -> Totals {
        Totals {
            agents: self.agents + other.agents,
            over: self.over + other.over,
            failed: self.failed + other.failed,
            working: self.working + other.working,
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
        }
    }

    /// The state of many, as that of one.
    pub(super) fn state(&self) -> State {
        match self {
            Totals { working: 1.., .. } => State::Working,
            Totals { failed: 1.., .. } => State::Failed,
            Totals { agents, over, .. } if over == agents && *agents > 0 => State::Done,
            Totals { over: 1.., .. } => State::Working,
            _ => State::Queued,
        }
    }
}
