use isolith_jail::frame::{self, Said};
use isolith_jail::worker::Line;
use std::io;

/// Kinds of calls whose arguments the supervisor reads apart, by the guest's numbers (`guest/calls.c`).
const CALL_TOOL: u32 = 0;
const CALL_ASK: u32 = 3;
const CALL_GET: u32 = 4;

/// In a worker: sends what a guest says to the supervisor, which is the one to judge it.
pub(crate) struct Relay {
    pub(crate) line: Line,
    output_bytes: usize,
}

impl Relay {
    /// Sends so much of one piece of output.
    pub(crate) fn new(line: Line, output_bytes: u64) -> Relay {
        // One character more than is allowed tells that there was more.
        Relay { line, output_bytes: (output_bytes as usize).saturating_add(4) }
    }

    /// Nothing where the arguments do not have the form of their kind.
    pub(crate) fn call(&mut self, id: u32, kind: u32, name: &[u8], data: Option<&[u8]>) -> Option<io::Result<()>> {
        let parts = match kind {
            CALL_ASK => Some(
                data?
                    .split_first_chunk()
                    .and_then(|(len, rest)| rest.split_at_checked(u32::from_le_bytes(*len) as usize))?,
            ),
            _ => None,
        };
        let request = match kind {
            CALL_GET => Some(data?.split_at_checked(4)?),
            _ => None,
        };
        self.line.say(Said::Call, |out| {
            frame::put_u32(out, id);
            out.push(kind as u8);
            match (kind, parts, request) {
                (CALL_ASK, Some((json, bytes)), _) => {
                    [name, json, bytes].iter().for_each(|part| frame::put_bytes(out, part));
                }
                (CALL_GET, _, Some((request, url))) => {
                    out.extend(request);
                    frame::put_bytes(out, url);
                }
                (CALL_TOOL, ..) => {
                    frame::put_bytes(out, name);
                    match data {
                        Some(json) => frame::put_bytes(out, json),
                        None => frame::put_optional(out, None),
                    }
                    frame::put_bytes(out, &[]);
                }
                _ => out.extend(data.unwrap_or_default()),
            }
        });
        Some(self.line.send_some())
    }

    pub(crate) fn output(&mut self, stream: u32, text: &[u8]) -> io::Result<()> {
        let text = text.get(..self.output_bytes).unwrap_or(text);
        self.line.say(Said::Output, |out| {
            out.push(stream as u8);
            out.extend(text);
        });
        self.line.send_some()
    }
}
