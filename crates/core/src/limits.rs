use serde::{Deserialize, Serialize};
use std::time::Duration;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// The least memory an isolate can have: the image every isolate starts from, and room to compute.
const MEMORY_BYTES_MIN: u64 = 8 * MIB;
/// The most: the engine's sizes are 32 bits wide, and half of that range stays out of reach on purpose.
const MEMORY_BYTES_MAX: u64 = 1024 * MIB;
const STACK_BYTES_MIN: u64 = 64 * KIB;
const STACK_BYTES_MAX: u64 = 1024 * KIB;
const DURATION_MAX: Duration = Duration::from_secs(7 * 24 * 3600);
const BYTES_MAX: u64 = 256 * MIB;
const CALLS_MAX: u32 = 1_000_000;

/// What a run may use. Every limit is enforced outside the guest, and an engine that cannot enforce one refuses to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// From start to end, waiting included.
    pub wall: Duration,
    /// Computing only.
    pub cpu: Duration,
    /// The guest's whole memory, and what the host holds for its unanswered calls.
    pub memory_bytes: u64,
    /// How deep calls may nest, in bytes of the guest's stack.
    pub stack_bytes: u64,
    /// The author's source.
    pub source_bytes: u64,
    /// Everything written to stdout and stderr, and a little for each piece of it.
    pub output_bytes: u64,
    /// The value of the run, as JSON.
    pub value_bytes: u64,
    /// One host call's arguments, or its reply, as JSON.
    pub payload_bytes: u64,
    /// Host calls that exercise a grant, in all.
    pub calls: u32,
    /// Host calls being performed at one time; more than these wait their turn.
    pub calls_in_flight: u32,
    /// A suspended run, uncompressed.
    pub suspended_bytes: u64,
    /// Requests to the network, redirects included.
    pub egress_requests: u32,
    /// One response's body, after it was decompressed.
    pub egress_response_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            wall: Duration::from_secs(30),
            cpu: Duration::from_secs(10),
            memory_bytes: 128 * MIB,
            stack_bytes: 512 * KIB,
            source_bytes: MIB,
            output_bytes: MIB,
            value_bytes: 16 * MIB,
            payload_bytes: 16 * MIB,
            calls: 1_000,
            calls_in_flight: 64,
            suspended_bytes: 64 * MIB,
            egress_requests: 100,
            egress_response_bytes: 32 * MIB,
        }
    }
}

/// A limit outside the range that can be enforced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("limit `{name}` is {given}, but must be between {least} and {most}")]
pub struct InvalidLimit {
    /// Which one.
    pub name: &'static str,
    /// As given.
    pub given: String,
    /// The least allowed.
    pub least: String,
    /// The most allowed.
    pub most: String,
}

impl Limits {
    /// Refuses limits that are zero, absurd, or that no engine could keep.
    pub fn check(&self) -> Result<(), InvalidLimit> {
        let duration = |name, given: Duration| {
            let least = Duration::from_millis(1);
            in_range(name, given, least, DURATION_MAX, show_duration)
        };
        let bytes = |name, given, least, most| in_range(name, given, least, most, show_bytes);
        duration("timeout", self.wall)?;
        duration("cpu", self.cpu)?;
        bytes("memory", self.memory_bytes, MEMORY_BYTES_MIN, MEMORY_BYTES_MAX)?;
        bytes("stack", self.stack_bytes, STACK_BYTES_MIN, STACK_BYTES_MAX)?;
        bytes("source", self.source_bytes, 1, BYTES_MAX)?;
        bytes("output", self.output_bytes, 1, BYTES_MAX)?;
        bytes("value", self.value_bytes, 1, BYTES_MAX)?;
        bytes("payload", self.payload_bytes, 1, BYTES_MAX)?;
        bytes("suspended", self.suspended_bytes, 1, MEMORY_BYTES_MAX)?;
        bytes("egress_response", self.egress_response_bytes, 1, MEMORY_BYTES_MAX)?;
        in_range("egress_requests", self.egress_requests, 0, CALLS_MAX, |n| n.to_string())?;
        in_range("calls", self.calls, 0, CALLS_MAX, |n| n.to_string())?;
        in_range("calls_in_flight", self.calls_in_flight, 1, CALLS_MAX, |n| n.to_string())
    }
}

fn in_range<T: PartialOrd + Copy>(
    name: &'static str,
    given: T,
    least: T,
    most: T,
    show: impl Fn(T) -> String,
) -> Result<(), InvalidLimit> {
    if given < least || given > most {
        return Err(InvalidLimit { name, given: show(given), least: show(least), most: show(most) });
    }
    Ok(())
}

fn show_duration(duration: Duration) -> String {
    match duration.as_secs() {
        seconds if seconds >= 24 * 3600 => format!("{} days", seconds / (24 * 3600)),
        _ if duration.is_zero() => "zero".into(),
        _ => format!("{duration:?}"),
    }
}

fn show_bytes(bytes: u64) -> String {
    match bytes {
        b if b >= MIB && b % MIB == 0 => format!("{} MiB", b / MIB),
        b if b >= KIB && b % KIB == 0 => format!("{} KiB", b / KIB),
        b => format!("{b} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_allowed() {
        assert_eq!(Limits::default().check(), Ok(()));
    }

    #[test]
    fn zero_and_absurd_limits_are_refused_by_name() {
        let base = Limits::default();
        let rows: [(Limits, &str); 7] = [
            (Limits { wall: Duration::ZERO, ..base }, "timeout"),
            (Limits { cpu: Duration::MAX, ..base }, "cpu"),
            (Limits { memory_bytes: 0, ..base }, "memory"),
            (Limits { memory_bytes: u64::MAX, ..base }, "memory"),
            (Limits { stack_bytes: 1, ..base }, "stack"),
            (Limits { output_bytes: 0, ..base }, "output"),
            (Limits { calls_in_flight: 0, ..base }, "calls_in_flight"),
        ];
        for (limits, name) in rows {
            assert_eq!(limits.check().map_err(|e| e.name), Err(name));
        }
    }
}
