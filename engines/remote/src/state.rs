//! A suspended run: what this side knows of it, and the state that only the other side can open.
//!
//! ```text
//! magic "ISLR" · format u32 · length of the tally u32 · tally, JSON · sealed state
//! ```

use crate::peer::Tally;
use isolith_core::{Suspended, SuspendedError};

const MAGIC: &[u8; 4] = b"ISLR";
const FORMAT: u32 = 1;
/// Thirteen limits and three counters.
const TALLY_BYTES_MAX: usize = 4 << 10;

pub(crate) fn write(tally: &Tally, sealed: &[u8]) -> Suspended {
    // Plain data of ours always has a JSON form; an empty one would be refused on reading.
    let tally = serde_json::to_vec(tally).unwrap_or_default();
    let mut out = Vec::with_capacity(12 + tally.len() + sealed.len());
    out.extend(MAGIC);
    out.extend(FORMAT.to_le_bytes());
    out.extend((tally.len() as u32).to_le_bytes());
    out.extend(tally);
    out.extend(sealed);
    Suspended(out)
}

pub(crate) fn read(suspended: &Suspended) -> Result<(Tally, &[u8]), SuspendedError> {
    let damaged = SuspendedError::Damaged;
    let rest = suspended.0.strip_prefix(MAGIC).ok_or(damaged("it does not start as one"))?;
    let (format, rest) = word(rest).ok_or(damaged("it is too short"))?;
    if format != FORMAT {
        return Err(SuspendedError::Format { found: format, known: FORMAT });
    }
    let (length, rest) = word(rest).ok_or(damaged("it is too short"))?;
    let length = length as usize;
    let (tally, sealed) = rest.split_at_checked(length).ok_or(damaged("it is too short"))?;
    if length > TALLY_BYTES_MAX {
        return Err(damaged("its parts do not fit together"));
    }
    let tally: Tally = serde_json::from_slice(tally).map_err(|_| damaged("its parts do not fit together"))?;
    Ok((tally, sealed))
}

fn word(bytes: &[u8]) -> Option<(u32, &[u8])> {
    bytes.split_first_chunk::<4>().map(|(word, rest)| (u32::from_le_bytes(*word), rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use isolith_core::Limits;

    #[test]
    fn what_is_written_is_read_back_and_nothing_else_is() {
        let tally = Tally::new(Limits::default());
        let whole = write(&tally, &[1, 2, 3]);
        assert_eq!(read(&whole), Ok((tally, &[1, 2, 3][..])));
        for at in 0..whole.0.len() - 3 {
            assert!(read(&Suspended(whole.0[..at].to_vec())).is_err(), "{at}");
        }
        for (at, byte) in [(0, b'X'), (4, 9), (9, 255), (12, b'[')] {
            let mut changed = whole.clone();
            changed.0[at] = byte;
            assert!(read(&changed).is_err(), "{at}");
        }
    }
}
