//! Finding tools by words.
//!
//! An inverted index with BM25 over fields: each word knows the tools it stands in and how much it says about each. That is
//! counted once; a search only adds it up.

mod fields;
mod words;

use crate::Namespace;
use crate::typescript::text::line;
use fields::{FIELDS, Field, fields};
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use words::{is_filler, words};

/// The most tools one search gives.
pub(crate) const LIMIT_MAX: usize = 100;

/// How much of a query is read.
const QUERY_CHARS_MAX: usize = 512;

/// How many words of a query are looked up.
const QUERY_WORDS_MAX: usize = 32;

/// How many longer words a word of a query may be the beginning of.
const PREFIXED_MAX: usize = 64;

/// The shortest beginning of a word that is taken for one.
const PREFIX_CHARS_MIN: usize = 2;

/// What the beginning of a word counts, against the whole word.
const PREFIX_WEIGHT: f32 = 0.3;

/// How much of a description is shown with a result.
const SUMMARY_CHARS_MAX: usize = 120;

/// How soon more of the same word stops counting for more.
const SATURATION: f32 = 1.2;

/// How much a word in a long text counts less than in a short one.
const LENGTH_WEIGHT: f32 = 0.75;

/// A tool that was searched for.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// `<namespace>.<tool>`.
    pub path: String,
    /// The first sentence of its description, at most 120 characters.
    pub summary: String,
    /// How well it goes with the words. It compares results of one search, and says nothing across searches.
    pub score: f32,
}

/// Words and where they stand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    tools: Vec<Entry>,
    /// By word, so that those with one beginning stand together.
    words: BTreeMap<String, Word>,
}

#[derive(Clone, Debug)]
struct Entry {
    path: String,
    summary: String,
}

#[derive(Clone, Debug)]
struct Word {
    /// How few tools have it: what few have tells them apart.
    rarity: f32,
    postings: Vec<Posting>,
}

/// That a word says something about a tool, and how much.
#[derive(Clone, Copy, Debug)]
struct Posting {
    tool: u32,
    weight: f32,
}

impl Index {
    pub(crate) fn new(namespaces: &[Namespace]) -> Index {
        let mut index = Index::default();
        let mut read: Vec<[Field; FIELDS.len()]> = Vec::new();
        for namespace in namespaces {
            for tool in &namespace.tools {
                let path = format!("{}.{}", namespace.name, tool.name);
                index.tools.push(Entry { path, summary: summary(&tool.description) });
                read.push(fields(namespace, tool));
            }
        }
        let count = read.len().max(1) as f32;
        let average: [f32; FIELDS.len()] = std::array::from_fn(|field| {
            let words: usize = read.iter().map(|fields| fields[field].len()).sum();
            (words as f32 / count).max(1.0)
        });
        let mut words: HashMap<String, Vec<Posting>> = HashMap::new();
        for (tool, fields) in read.into_iter().enumerate() {
            // Sorted, so that the same numbers are added up in the same order each time.
            let mut weights: BTreeMap<String, f32> = BTreeMap::new();
            for (place, field) in fields.into_iter().enumerate() {
                let length = 1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * field.len() as f32 / average[place];
                for word in field {
                    *weights.entry(word).or_default() += FIELDS[place] / length;
                }
            }
            for (word, weight) in weights {
                words.entry(word).or_default().push(Posting { tool: tool as u32, weight });
            }
        }
        for (word, mut postings) in words {
            let have = postings.len() as f32;
            let rarity = (1.0 + (count - have + 0.5) / (have + 0.5)).ln();
            postings.iter_mut().for_each(|posting| posting.weight /= SATURATION + posting.weight);
            index.words.insert(word, Word { rarity, postings });
        }
        index
    }

    /// `exists` is asked for the tools that go with the words, the best first, until there are enough.
    pub(crate) fn search(&self, query: &str, limit: usize, exists: &dyn Fn(&str) -> bool) -> Vec<Found> {
        let wanted = wanted(query);
        if wanted.is_empty() {
            // Words that are none, such as `?!`, ask for something that is not there.
            let asks = query.chars().take(QUERY_CHARS_MAX).any(|c| !c.is_whitespace());
            let first = if asks { &[][..] } else { &self.tools[..] };
            let seen = first.iter().filter(|entry| exists(&entry.path));
            return seen.take(limit).map(|entry| entry.found(0.0)).collect();
        }
        let mut scores = vec![0.0_f32; self.tools.len()];
        let mut matched = vec![0_u32; self.tools.len()];
        let mut best = vec![0.0_f32; self.tools.len()];
        for word in &wanted {
            let mut touched = Vec::new();
            for (posting, weight) in self.postings(word) {
                let best = &mut best[posting.tool as usize];
                if *best == 0.0 {
                    touched.push(posting.tool as usize);
                }
                // The whole word or its best beginning, not the sum of all words that begin with it.
                *best = best.max(posting.weight * weight);
            }
            for tool in touched {
                scores[tool] += std::mem::take(&mut best[tool]);
                matched[tool] += 1;
            }
        }
        let mut hits: Vec<(f32, usize)> = Vec::new();
        for (tool, score) in scores.into_iter().enumerate().filter(|(_, score)| *score > 0.0) {
            // Two words in two fields say more than one word in both.
            let share = matched[tool] as f32 / wanted.len() as f32;
            hits.push((score * (0.5 + 0.5 * share), tool));
        }
        hits.sort_by(|(a, first), (b, second)| b.total_cmp(a).then(first.cmp(second)));
        let seen = hits.into_iter().filter(|(_, tool)| exists(&self.tools[*tool].path));
        seen.take(limit).map(|(score, tool)| self.tools[tool].found(score)).collect()
    }

    /// Where a word stands, and words that begin with it, with what they count.
    fn postings<'a>(&'a self, word: &'a str) -> impl Iterator<Item = (Posting, f32)> + 'a {
        let whole = self.words.get(word);
        let longer = self.words.range::<str, _>((Bound::Excluded(word), Bound::Unbounded));
        let enough = word.chars().count() >= PREFIX_CHARS_MIN;
        let longer = longer.take_while(move |(longer, _)| enough && longer.starts_with(word)).take(PREFIXED_MAX);
        // A longer word is rarer, and must not count more for that than the word that was asked for.
        let most = whole.map_or(f32::MAX, |whole| whole.rarity);
        let longer = longer.map(move |(_, longer)| (longer, PREFIX_WEIGHT * longer.rarity.min(most)));
        let all = whole.map(|whole| (whole, whole.rarity)).into_iter().chain(longer);
        all.flat_map(|(word, weight)| word.postings.iter().map(move |posting| (*posting, weight)))
    }
}

impl Entry {
    fn found(&self, score: f32) -> Found {
        Found { path: self.path.clone(), summary: self.summary.clone(), score }
    }
}

/// The words of a query, each once. `the` and its like count only where there is nothing else.
fn wanted(query: &str) -> Vec<String> {
    let query: String = query.chars().take(QUERY_CHARS_MAX).collect();
    let mut all: Vec<(String, bool)> = Vec::new();
    for word in words(&query) {
        let filler = is_filler(&word);
        if all.len() < QUERY_WORDS_MAX && !all.iter().any(|(known, _)| *known == word) {
            all.push((word, filler));
        }
    }
    let only_filler = all.iter().all(|(_, filler)| *filler);
    all.into_iter().filter(|(_, filler)| only_filler || !filler).map(|(word, _)| word).collect()
}

/// The first sentence of a description.
fn summary(description: &str) -> String {
    let text = description.trim_start();
    let first = text.split(['\n', '\r']).next().unwrap_or_default();
    let ends = |place: &usize| !["e.g", "i.e", "cf", "vs"].iter().any(|short| first[..*place].ends_with(short));
    let end = first.match_indices(". ").map(|(place, _)| place).find(ends);
    let sentence = end.map_or(first, |end| &first[..=end]);
    line(sentence, SUMMARY_CHARS_MAX)
}
