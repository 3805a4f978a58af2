//! How far a program is: its code and all results so far. The Worker keeps nothing, so this is its whole state.

use super::round::ToolResult;
use isolith_core::{BindingName, CallId, Digest, HostReply, Limits, Suspended, SuspendedError, Usage};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

const MAGIC: &[u8; 4] = b"ISLW";
const FORMAT: u32 = 1;
const HEADER_BYTES: usize = 4 + 4 + 32;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Progress {
    pub(super) code: String,
    pub(super) tools: Vec<BindingName>,
    pub(super) limits: Limits,
    /// By the numbers of the calls.
    pub(super) results: BTreeMap<u32, ToolResult>,
    /// Calls that have no result yet.
    pub(super) open: BTreeSet<u32>,
    /// Whether the Worker has seen it.
    pub(super) begun: bool,
    /// Lines that were passed on.
    pub(super) lines: usize,
    output_bytes: u64,
    bytes_in: u64,
    pub(super) bytes_out: u64,
}

impl Progress {
    pub(super) fn new(code: String, tools: Vec<BindingName>, limits: Limits) -> Progress {
        Progress {
            code,
            tools,
            limits,
            results: BTreeMap::new(),
            open: BTreeSet::new(),
            begun: false,
            lines: 0,
            output_bytes: 0,
            bytes_in: 0,
            bytes_out: 0,
        }
    }

    /// Takes the answer to a call. One that is not open has its answer already.
    pub(super) fn answer(&mut self, CallId(id): CallId, reply: HostReply) {
        if !self.open.remove(&id) {
            return;
        }
        self.bytes_in += reply.bytes() as u64;
        let most = self.limits.payload_bytes as usize;
        let result = match reply {
            reply if reply.bytes() > most => {
                ToolResult::failed(format!("the reply is {} bytes, but one call may bring {most}", reply.bytes()))
            }
            HostReply::Value { json } => ToolResult { success: true, value: json, error: None },
            HostReply::Failed { error } => ToolResult::failed(error.message),
            HostReply::Body { .. } | HostReply::Bytes { .. } | HostReply::Response { .. } => {
                ToolResult::failed("bodies do not reach a Worker".into())
            }
        };
        self.results.insert(id, result);
    }

    /// How much of a line may be passed on; nothing where the run has written too much.
    pub(super) fn output(&mut self, bytes: usize) -> Option<()> {
        self.output_bytes = self.output_bytes.saturating_add(bytes as u64 + 1);
        self.bytes_out += bytes as u64;
        (self.output_bytes <= self.limits.output_bytes + 1).then_some(())
    }

    pub(super) fn usage(&self) -> Usage {
        let calls = (self.results.len() + self.open.len()) as u32;
        Usage { calls, bytes_in: self.bytes_in, bytes_out: self.bytes_out, ..Usage::default() }
    }

    /// `magic · format u32 · image · JSON`
    pub(super) fn write(&self, image: Digest) -> Result<Suspended, SuspendedError> {
        let mut out = Vec::new();
        out.extend(MAGIC);
        out.extend(FORMAT.to_le_bytes());
        out.extend(image.0);
        // Plain data of ours always has a JSON form; an empty one would be refused on reading.
        out.extend(serde_json::to_vec(self).unwrap_or_default());
        let (bytes, limit) = (out.len() as u64, self.limits.suspended_bytes);
        if bytes > limit { Err(SuspendedError::TooLarge { bytes, limit }) } else { Ok(Suspended(out)) }
    }

    pub(super) fn read(suspended: &Suspended, own: Digest) -> Result<Progress, SuspendedError> {
        let damaged = SuspendedError::Damaged;
        let (header, json) = suspended.0.split_at_checked(HEADER_BYTES).ok_or(damaged("it is too short"))?;
        if &header[..4] != MAGIC {
            return Err(damaged("it does not start as one"));
        }
        let found = header[4..8].try_into().map_or(0, u32::from_le_bytes);
        if found != FORMAT {
            return Err(SuspendedError::Format { found, known: FORMAT });
        }
        if header[8..] != own.0 {
            let found = header[8..].try_into().map(Digest).map_or_else(|_| String::new(), |image| image.to_string());
            return Err(SuspendedError::Image { found, own: own.to_string() });
        }
        serde_json::from_slice(json).map_err(|_| damaged("its parts do not fit together"))
    }
}
