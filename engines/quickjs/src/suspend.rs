//! A waiting run as bytes: what it has used, and the parts of its memory that differ from the image.
//!
//! ```text
//! magic "ISLQ" · format u32 · image 32 bytes · checksum 32 bytes · length of the body u64 · zstd(body)
//! body = counters u64… · for each changed page: its number u32, which of its 64 blocks differ u64, those blocks
//! ```

use crate::guest::Used;
use crate::image::{Base, Image, Live};
use crate::pages::{self, PAGE};
use isolith_core::{Digest, EngineError, Limits, Suspended, SuspendedError};
use isolith_jail::frame::Reader;
use std::cell::RefCell;
use std::time::Duration;
use zstd::bulk::{Compressor, Decompressor};

const MAGIC: &[u8; 4] = b"ISLQ";
/// Counted up whenever the layout below changes. What one build wrote, only that build reads: the image says so first.
const FORMAT: u32 = 2;
const HEADER_BYTES: usize = 4 + 4 + 32 + 32;
/// A page is 64 of these: one bit each.
const BLOCK: usize = PAGE / 64;
const WASM_PAGE: usize = 64 << 10;
/// Level 1 packs nearly as well as 3 here, in half the time.
const ZSTD_LEVEL: i32 = 1;
const NUMBERS: usize = 20;

/// A run outside memory.
pub(crate) struct State {
    pub(crate) limits: Limits,
    pub(crate) cpu_used: Duration,
    used: Used,
    memory_bytes: usize,
    /// The changed pages, as the body holds them.
    pages: Vec<u8>,
}

thread_local! {
    // Making these costs more than using them.
    static PACKER: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static UNPACKER: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

impl State {
    /// Takes the state of a waiting run. The stack below the image's stack pointer is dead and stays behind.
    pub(crate) fn take(base: &Base, live: &Live, cpu_used: Duration) -> Result<State, EngineError> {
        let memory = live.memory.data(&live.store);
        let guest = live.store.data();
        let stack_pages = base.stack_pointer as usize / PAGE;
        let mut pages = Vec::new();
        for number in pages::maybe_written(memory).into_iter().filter(|n| *n as usize >= stack_pages) {
            let at = number as usize * PAGE;
            let image = base.memory.get(at..at + PAGE).unwrap_or(&[0; PAGE]);
            put_page(&mut pages, number, &memory[at..at + PAGE], image);
            let (bytes, limit) = (pages.len() as u64, guest.limits.suspended_bytes);
            if bytes > limit {
                return Err(SuspendedError::TooLarge { bytes, limit }.into());
            }
        }
        Ok(State { limits: guest.limits, cpu_used, used: guest.used, memory_bytes: memory.len(), pages })
    }

    /// The state of a run whose memory somebody else has looked at; nothing where it does not fit together.
    pub(crate) fn of_memory(
        limits: Limits,
        cpu_used: Duration,
        used: Used,
        memory_bytes: u64,
        pages: Vec<u8>,
    ) -> Option<State> {
        let fits = memory_bytes <= limits.memory_bytes && pages.len() as u64 <= limits.suspended_bytes;
        let state = State { limits, cpu_used, used, memory_bytes: memory_bytes as usize, pages };
        (fits && state.pages_fit()).then_some(state)
    }

    /// Whether every page lies within the memory and is all there.
    fn pages_fit(&self) -> bool {
        let mut rest = &self.pages[..];
        while !rest.is_empty() {
            let Some((number, changed, after)) = page_head(rest) else { return false };
            let is_within = (number as usize + 1) * PAGE <= self.memory_bytes;
            let Some(after) = after.get(changed.count_ones() as usize * BLOCK..).filter(|_| is_within) else {
                return false;
            };
            rest = after;
        }
        true
    }

    /// Writes the memory alone: its size and what has changed in it.
    pub(crate) fn put_memory(&self, out: &mut Vec<u8>) {
        out.extend((self.memory_bytes as u64).to_le_bytes());
        out.extend(&self.pages);
    }

    /// Reads what [`State::put_memory`] wrote.
    pub(crate) fn read_memory(limits: Limits, mut reader: Reader<'_>) -> Option<State> {
        let memory_bytes = reader.u64()?;
        State::of_memory(limits, Duration::ZERO, Used::default(), memory_bytes, reader.0.to_vec())
    }

    pub(crate) fn used(&self) -> Used {
        self.used
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    /// Puts the state into a fresh instance.
    pub(crate) fn restore(&self, live: &mut Live) -> Result<(), EngineError> {
        let failed = |source: wasmtime::Error| EngineError::Internal { doing: "resuming", source: source.into() };
        live.store.data_mut().used = self.used;
        let have = live.memory.data_size(&live.store);
        if self.memory_bytes > have {
            let more = (self.memory_bytes - have).div_ceil(WASM_PAGE) as u64;
            live.memory.grow(&mut live.store, more).map_err(failed)?;
        }
        let memory = live.memory.data_mut(&mut live.store);
        let mut rest = &self.pages[..];
        while !rest.is_empty() {
            rest = take_page(rest, memory).ok_or(SuspendedError::Damaged("its pages do not fit its memory"))?;
        }
        Ok(())
    }

    pub(crate) fn write(&self) -> Suspended {
        let mut body = Vec::with_capacity(NUMBERS * 8 + self.pages.len());
        self.counters().iter().for_each(|n| body.extend(n.to_le_bytes()));
        body.extend(&self.pages);
        // Compressing into memory has no way to fail; an empty body would be refused on reading.
        let packed = pack(&body).unwrap_or_default();
        let mut out = Vec::with_capacity(HEADER_BYTES + 8 + packed.len());
        out.extend(MAGIC);
        out.extend(FORMAT.to_le_bytes());
        out.extend(Image::digest().0);
        out.extend([0; 32]);
        out.extend((body.len() as u64).to_le_bytes());
        out.extend(packed);
        let checksum = blake3::hash(&out[HEADER_BYTES..]);
        out[HEADER_BYTES - 32..HEADER_BYTES].copy_from_slice(checksum.as_bytes());
        Suspended(out)
    }

    pub(crate) fn read(suspended: &Suspended) -> Result<State, SuspendedError> {
        let bytes = &suspended.0;
        let damaged = SuspendedError::Damaged;
        let header = bytes.get(..HEADER_BYTES).ok_or(damaged("it is too short"))?;
        if &header[..4] != MAGIC {
            return Err(damaged("it does not start as one"));
        }
        let format = word(header, 4).ok_or(damaged("it is too short"))?;
        if format != FORMAT {
            return Err(SuspendedError::Format { found: format, known: FORMAT });
        }
        let own = Image::digest();
        if header[8..40] != own.0 {
            let found = header[8..40].try_into().map(Digest).map_or_else(|_| String::new(), |d| d.to_string());
            return Err(SuspendedError::Image { found, own: own.to_string() });
        }
        let rest = &bytes[HEADER_BYTES..];
        if blake3::hash(rest).as_bytes()[..] != header[40..72] {
            // THREAT[T-STATE-002]: memory put together by someone else would run with this run's grants.
            return Err(damaged("its checksum is wrong"));
        }
        let (len, packed) = rest.split_at_checked(8).ok_or(damaged("it is too short"))?;
        let len = len.try_into().map(u64::from_le_bytes).map_err(|_| damaged("it is too short"))?;
        // The most a body can be: every page of the largest memory. The checksum holds, so the size is ours; the bound is
        // for the day when it is not.
        if len > 2 << 30 {
            return Err(damaged("it is larger than any run"));
        }
        let body = unpack(packed, len as usize).map_err(|_| damaged("it does not unpack"))?;
        State::from_body(&body).ok_or(damaged("its parts do not fit together"))
    }

    fn from_body(body: &[u8]) -> Option<State> {
        let number = |i: usize| Some(u64::from_le_bytes(body.get(i * 8..i * 8 + 8)?.try_into().ok()?));
        let micros = |i| Some(Duration::from_micros(number(i)?));
        let limits = Limits {
            wall: micros(0)?,
            cpu: micros(1)?,
            memory_bytes: number(2)?,
            stack_bytes: number(3)?,
            source_bytes: number(4)?,
            output_bytes: number(5)?,
            value_bytes: number(6)?,
            payload_bytes: number(7)?,
            calls: number(8)? as u32,
            calls_in_flight: number(9)? as u32,
            suspended_bytes: number(10)?,
            egress_requests: number(17)? as u32,
            egress_response_bytes: number(18)?,
        };
        limits.check().ok()?;
        let used = Used {
            calls: number(11)? as u32,
            output_bytes: number(12)?,
            bytes_in: number(13)?,
            bytes_out: number(14)?,
        };
        let (cpu_used, memory_bytes) = (Duration::from_nanos(number(15)?), number(16)?);
        if memory_bytes > limits.memory_bytes {
            return None;
        }
        let pages = body.get(NUMBERS * 8..)?.to_vec();
        Some(State { limits, cpu_used, used, memory_bytes: memory_bytes as usize, pages })
    }

    fn counters(&self) -> [u64; NUMBERS] {
        let limits = &self.limits;
        let micros = |d: Duration| d.as_micros() as u64;
        [
            micros(limits.wall),
            micros(limits.cpu),
            limits.memory_bytes,
            limits.stack_bytes,
            limits.source_bytes,
            limits.output_bytes,
            limits.value_bytes,
            limits.payload_bytes,
            limits.calls.into(),
            limits.calls_in_flight.into(),
            limits.suspended_bytes,
            self.used.calls.into(),
            self.used.output_bytes,
            self.used.bytes_in,
            self.used.bytes_out,
            self.cpu_used.as_nanos() as u64,
            self.memory_bytes as u64,
            limits.egress_requests.into(),
            limits.egress_response_bytes,
            0,
        ]
    }
}

fn put_page(out: &mut Vec<u8>, number: u32, page: &[u8], image: &[u8]) {
    let blocks = || page.chunks_exact(BLOCK).zip(image.chunks_exact(BLOCK)).enumerate();
    let changed: u64 = blocks().filter(|(_, (new, old))| new != old).map(|(i, _)| 1 << i).sum();
    if changed == 0 {
        return;
    }
    out.extend(number.to_le_bytes());
    out.extend(changed.to_le_bytes());
    blocks().filter(|(i, _)| changed >> i & 1 == 1).for_each(|(_, (new, _))| out.extend(new));
}

/// The number of the first page of `bytes`, which of its blocks differ, and what follows.
fn page_head(bytes: &[u8]) -> Option<(u32, u64, &[u8])> {
    let (number, bytes) = bytes.split_first_chunk()?;
    let (changed, bytes) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(*number), u64::from_le_bytes(*changed), bytes))
}

/// Writes the first page of `bytes` into `memory` and gives what follows it.
fn take_page<'a>(bytes: &'a [u8], memory: &mut [u8]) -> Option<&'a [u8]> {
    let (number, changed, mut bytes) = page_head(bytes)?;
    let at = number as usize * PAGE;
    let page = memory.get_mut(at..at.checked_add(PAGE)?)?;
    for (_, to) in page.chunks_exact_mut(BLOCK).enumerate().filter(|(i, _)| changed >> i & 1 == 1) {
        let (block, rest) = bytes.split_at_checked(BLOCK)?;
        to.copy_from_slice(block);
        bytes = rest;
    }
    Some(bytes)
}

fn pack(body: &[u8]) -> std::io::Result<Vec<u8>> {
    PACKER.with_borrow_mut(|packer| match packer {
        Some(packer) => packer.compress(body),
        none => none.insert(Compressor::new(ZSTD_LEVEL)?).compress(body),
    })
}

fn unpack(packed: &[u8], len: usize) -> std::io::Result<Vec<u8>> {
    UNPACKER.with_borrow_mut(|unpacker| match unpacker {
        Some(unpacker) => unpacker.decompress(packed, len),
        none => none.insert(Decompressor::new()?).decompress(packed, len),
    })
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
