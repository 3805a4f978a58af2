//! What was found, by where in the text it was found.

use super::text::Why;
use super::value::INPUT;
use super::{Need, Needs, Place, Unknown};
use crate::error::tidy;
use crate::lines::Lines;
use isolith_core::{BindingName, Power};
use oxc::span::Span;
use std::collections::{BTreeSet, HashMap, HashSet};

/// How much of an expression is shown.
const SHOWN_CHARS_MAX: usize = 60;

/// Collects what is found; offsets are those of the parsed text.
pub(super) struct Ledger<'t> {
    text: &'t str,
    entries: Entries,
    /// Where in `entries` each power is.
    by_label: HashMap<String, usize>,
    unknown_seen: HashSet<(u32, &'static str, String)>,
}

/// The findings with plain offsets, free of the tree.
#[derive(Default)]
pub(super) struct Entries {
    needs: Vec<(Power, BTreeSet<usize>, bool)>,
    unknown: Vec<(&'static str, usize, String)>,
    clock: BTreeSet<usize>,
    random: BTreeSet<usize>,
}

impl<'t> Ledger<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Ledger { text, entries: Entries::default(), by_label: HashMap::new(), unknown_seen: HashSet::new() }
    }

    pub(super) fn need(&mut self, power: Power, at: u32, exact: bool) {
        let index = *self.by_label.entry(power.to_string()).or_insert_with(|| {
            self.entries.needs.push((power, BTreeSet::new(), true));
            self.entries.needs.len() - 1
        });
        let (_, places, all_exact) = &mut self.entries.needs[index];
        places.insert(at as usize);
        *all_exact &= exact;
    }

    /// Whether this very power is needed somewhere.
    pub(super) fn has(&self, power: &Power) -> bool {
        self.by_label.contains_key(&power.to_string())
    }

    /// Whether tools of a namespace are needed somewhere.
    pub(super) fn has_within(&self, namespace: &BindingName) -> bool {
        let of =
            |power: &Power| matches!(power, Power::Tool(tool) if tool.name.namespace() == Some(namespace.as_str()));
        self.entries.needs.iter().any(|(power, ..)| of(power))
    }

    /// `what` cannot be told.
    pub(super) fn lost(&mut self, kind: &'static str, what: &str, at: u32, why: Why) {
        let sentence = match why {
            Why::From(span) => format!("{what} comes from `{}`", self.shown(span)),
            Why::Input => format!("{what} comes from `{INPUT}`"),
            Why::Many(span) => format!("{what} has too many possible values at `{}`", self.shown(span)),
            Why::Far(span) => format!("{what} is too far to follow at `{}`", self.shown(span)),
        };
        self.unknown(kind, at, sentence);
    }

    pub(super) fn unknown(&mut self, kind: &'static str, at: u32, why: String) {
        let why = tidy(&why);
        if self.unknown_seen.insert((at, kind, why.clone())) {
            self.entries.unknown.push((kind, at as usize, why));
        }
    }

    pub(super) fn clock(&mut self, at: u32) {
        self.entries.clock.insert(at as usize);
    }

    pub(super) fn random(&mut self, at: u32) {
        self.entries.random.insert(at as usize);
    }

    /// An expression on one line.
    fn shown(&self, span: Span) -> String {
        let text = self.text.get(span.start as usize..span.end as usize).unwrap_or_default();
        // Only as much as can be shown is looked at: one expression may be the whole program.
        let mut words = text.split_whitespace().take(SHOWN_CHARS_MAX);
        let mut shown = words.next().unwrap_or_default().chars().take(SHOWN_CHARS_MAX + 1).collect::<String>();
        for word in words {
            shown.push(' ');
            shown.extend(word.chars().take(SHOWN_CHARS_MAX + 1));
        }
        if shown.chars().count() > SHOWN_CHARS_MAX {
            shown = shown.chars().take(SHOWN_CHARS_MAX).chain(['…']).collect();
        }
        shown
    }

    /// Takes the findings out, with offsets of the author's text.
    pub(super) fn settle(self, offset: impl Fn(u32) -> usize) -> Entries {
        let moved = |places: &BTreeSet<usize>| places.iter().map(|at| offset(*at as u32)).collect();
        let Entries { needs, unknown, clock, random } = self.entries;
        Entries {
            needs: needs.into_iter().map(|(power, places, exact)| (power, moved(&places), exact)).collect(),
            unknown: unknown.into_iter().map(|(kind, at, why)| (kind, offset(at as u32), why)).collect(),
            clock: moved(&clock),
            random: moved(&random),
        }
    }
}

impl Entries {
    /// The findings with lines and columns; the text begins at `start`.
    pub(super) fn into_needs(mut self, lines: &Lines<'_>, start: usize) -> Needs {
        let needed = self.needs.iter().flat_map(|(_, places, _)| places);
        let unknown = self.unknown.iter().map(|(_, at, _)| at);
        let all: BTreeSet<usize> = needed.chain(unknown).chain(&self.clock).chain(&self.random).copied().collect();
        let places = super::place::places(lines, start, &all);
        let place = |at: &usize| places.get(at).copied().unwrap_or(Place { line: 1, column: 1 });
        let list = |all: &BTreeSet<usize>| all.iter().map(place).collect::<Vec<_>>();
        self.needs.sort_by_key(|(_, places, _)| places.first().copied());
        self.unknown.sort_by_key(|(_, at, _)| *at);
        let (clock, random) = (list(&self.clock), list(&self.random));
        let need =
            |(power, places, exact): (Power, BTreeSet<usize>, bool)| Need { power, places: list(&places), exact };
        let unknown = self.unknown.into_iter().map(|(kind, at, why)| Unknown { kind, place: place(&at), why });
        Needs { unknown: unknown.collect(), needs: self.needs.into_iter().map(need).collect(), clock, random }
    }
}
