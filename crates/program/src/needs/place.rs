use super::Place;
use crate::lines::Lines;
use std::collections::{BTreeMap, BTreeSet};

/// Lines and columns of many offsets of a text that begins at `start` of the source.
///
/// One sweep, because one line may hold all of them.
pub(super) fn places(lines: &Lines<'_>, start: usize, offsets: &BTreeSet<usize>) -> BTreeMap<usize, Place> {
    let mut places = BTreeMap::new();
    let mut last: Option<(usize, Place)> = None;
    for &offset in offsets {
        let at = start + offset;
        let line = lines.line_of(at).0 as u32 + 1;
        let place = match last {
            Some((before, place)) if place.line == line => {
                Place { line, column: place.column + lines.characters(before, at) as u32 }
            }
            _ => {
                let (line, column) = lines.position(at);
                Place { line, column }
            }
        };
        last = Some((at, place));
        places.insert(offset, place);
    }
    places
}
