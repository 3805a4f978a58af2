use crate::tally::Tally;
use isolith_runner::{SuspendedRun, SuspendedRunError};

/// A state of a run that was kept on the way, with what it had used by then.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The program, as it stood.
    pub state: SuspendedRun,
    pub(crate) tally: Tally,
}

impl Kept {
    /// The state as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Plain data of ours always has a JSON form.
        let tally = serde_json::to_vec(&self.tally).unwrap_or_default();
        let mut out = (tally.len() as u32).to_le_bytes().to_vec();
        out.extend(tally);
        out.extend(self.state.to_bytes());
        out
    }

    /// Reads a state back.
    pub fn from_bytes(bytes: &[u8]) -> Result<Kept, SuspendedRunError> {
        let damaged = || SuspendedRunError::Damaged;
        let (len, rest) = bytes.split_first_chunk::<4>().ok_or_else(damaged)?;
        let (tally, state) = rest.split_at_checked(u32::from_le_bytes(*len) as usize).ok_or_else(damaged)?;
        let tally = serde_json::from_slice(tally).map_err(|_| damaged())?;
        Ok(Kept { state: SuspendedRun::from_bytes(state)?, tally })
    }
}
