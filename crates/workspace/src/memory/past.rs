//! What was before.

use super::Place;
use isolith_core::files::Change;
use isolith_core::{FilesError, FilesReason, GuestPath, Timestamp};
use std::collections::{BTreeMap, VecDeque};

/// How many changes are remembered, and how many bytes of files that are no more.
const CHANGES_MAX: usize = 1000;
const BYTES_MAX: u64 = 256 << 20;

#[derive(Default)]
pub(super) struct Past {
    // The number of the last change.
    last: u64,
    changes: VecDeque<Remembered>,
    bytes: u64,
}

struct Remembered {
    version: u64,
    at: Timestamp,
    what: String,
    places: BTreeMap<GuestPath, Before>,
}

struct Before {
    was: Option<Place>,
    is: Option<Place>,
}

impl Past {
    pub(super) fn add(
        &mut self,
        what: &str,
        at: Timestamp,
        before: BTreeMap<GuestPath, Option<Place>>,
        now: impl Fn(&GuestPath) -> Option<Place>,
    ) {
        if before.is_empty() {
            return;
        }
        self.last += 1;
        let places = before.into_iter().map(|(path, was)| {
            let is = now(&path);
            (path, Before { was, is })
        });
        let change = Remembered { version: self.last, at, what: what.to_owned(), places: places.collect() };
        self.bytes += change.bytes();
        self.changes.push_back(change);
        while self.changes.len() > CHANGES_MAX || self.bytes > BYTES_MAX {
            let Some(oldest) = self.changes.pop_front() else { break };
            self.bytes -= oldest.bytes();
        }
    }

    /// The changes of a place and of those below it, the newest first.
    pub(super) fn of(&self, path: &GuestPath, most: usize) -> Vec<Change> {
        let all = self.changes.iter().rev().flat_map(|change| change.places.iter().map(move |place| (change, place)));
        let told = all.filter(|(_, (place, _))| path.covers(place)).map(|(change, (place, before))| Change {
            version: change.version,
            at: change.at,
            what: change.what.clone(),
            path: place.to_string(),
            kind: before.is.as_ref().map(|is| is.node.kind),
            size: before.is.as_ref().map_or(0, |is| is.node.size),
        });
        told.take(most).collect()
    }

    /// What was in a place after a change.
    pub(super) fn at(
        &self,
        path: &GuestPath,
        version: u64,
        now: impl FnOnce() -> Option<Place>,
    ) -> Result<Option<Place>, FilesError> {
        let first = self.changes.front().map_or(self.last + 1, |change| change.version);
        if version > self.last || version + 1 < first {
            return Err(unknown(version));
        }
        let later = self.changes.iter().find(|change| change.version > version && change.places.contains_key(path));
        Ok(later.map_or_else(now, |change| change.places[path].was.clone()))
    }

    /// What was in each place before a change and all after it.
    pub(super) fn before(&self, version: Option<u64>) -> Result<(u64, BTreeMap<GuestPath, Option<Place>>), FilesError> {
        let version = version.unwrap_or(self.last);
        if !self.changes.iter().any(|change| change.version == version) {
            return Err(unknown(version));
        }
        let mut before = BTreeMap::new();
        for change in self.changes.iter().filter(|change| change.version >= version) {
            for (path, place) in &change.places {
                before.entry(path.clone()).or_insert_with(|| place.was.clone());
            }
        }
        Ok((version, before))
    }
}

impl Remembered {
    fn bytes(&self) -> u64 {
        self.places.values().filter_map(|before| before.was.as_ref()).map(|was| was.node.size).sum()
    }
}

fn unknown(version: u64) -> FilesError {
    FilesReason::Invalid(format!("there is no change {version} that is remembered")).into()
}
