//! What goes over the socket between a supervisor and a worker: a length, a kind, and the bytes of it.
//!
//! The supervisor believes nothing of what it reads: a length is held against the most that its kind may have before room is
//! made, and what is inside is checked where it is read.

/// Bytes before the content: its length, the kind.
pub const HEADER_BYTES: usize = 5;

/// What a worker says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// It waits for a program; which walls stand.
    Ready = 1,
    /// A piece of output.
    Output = 2,
    /// A host call.
    Call = 3,
    /// Nothing is left to do until the host replies.
    Waits = 4,
    /// It is over.
    Ended = 5,
    /// The memory of a program that waits.
    State = 6,
}

impl Said {
    /// The kind of a number, if there is one.
    pub fn from_number(number: u8) -> Option<Said> {
        use Said::*;
        [Ready, Output, Call, Waits, Ended, State].into_iter().find(|said| *said as u8 == number)
    }
}

/// What a supervisor says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// A program and all that belongs to it.
    Start = 16,
    /// Replies.
    Turn = 17,
    /// To say what memory the program has. It waits.
    Suspend = 18,
    /// A program that has run before, instead of one that starts.
    Resume = 19,
}

impl Told {
    /// The kind of a number, if there is one.
    pub fn from_number(number: u8) -> Option<Told> {
        [Told::Start, Told::Turn, Told::Suspend, Told::Resume].into_iter().find(|told| *told as u8 == number)
    }
}

/// Begins a frame at the end of `out`; [`close`] says how long it became.
pub fn open(out: &mut Vec<u8>, kind: u8) -> usize {
    let at = out.len();
    out.extend([0, 0, 0, 0, kind]);
    at
}

/// Says how long the frame that was opened at `at` became.
pub fn close(out: &mut [u8], at: usize) {
    let len = (out.len() - at - HEADER_BYTES) as u32;
    out[at..at + 4].copy_from_slice(&len.to_le_bytes());
}

/// The length that stands for nothing.
const NOTHING: u32 = u32::MAX;

/// Puts a number.
pub fn put_u32(out: &mut Vec<u8>, number: u32) {
    out.extend(number.to_le_bytes());
}

/// Puts a number.
pub fn put_f64(out: &mut Vec<u8>, number: f64) {
    out.extend(number.to_le_bytes());
}

/// Puts bytes, with their count.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_u32(out, bytes.len() as u32);
    out.extend(bytes);
}

/// Puts a text, or that there is none.
pub fn put_optional(out: &mut Vec<u8>, text: Option<&str>) {
    match text {
        Some(text) => put_bytes(out, text.as_bytes()),
        None => put_u32(out, NOTHING),
    }
}

/// Reads what was put, in order. Nothing where it is not there.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// So many bytes.
    pub fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    /// A byte.
    pub fn u8(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    /// A number.
    pub fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    /// A number.
    pub fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    /// A number.
    pub fn f64(&mut self) -> Option<f64> {
        Some(f64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    /// Bytes that were put with their count.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.u32()?;
        self.take(len as usize)
    }

    /// A text.
    pub fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    /// A text, or that there is none.
    pub fn optional(&mut self) -> Option<Option<&'a str>> {
        let len = self.u32()?;
        if len == NOTHING {
            return Some(None);
        }
        std::str::from_utf8(self.take(len as usize)?).ok().map(Some)
    }

    /// The same, of a program that may have written what is no text: half of a character is none.
    pub(crate) fn optional_lossy(&mut self) -> Option<Option<String>> {
        let len = self.u32()?;
        if len == NOTHING {
            return Some(None);
        }
        Some(Some(String::from_utf8_lossy(self.take(len as usize)?).into_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_read() {
        let mut out = Vec::new();
        let at = open(&mut out, Told::Turn as u8);
        put_f64(&mut out, 1.5);
        put_bytes(&mut out, b"ab");
        put_optional(&mut out, None);
        put_optional(&mut out, Some(""));
        close(&mut out, at);
        assert_eq!(out.len(), HEADER_BYTES + 8 + 6 + 4 + 4);
        let mut reader = Reader(&out[HEADER_BYTES..]);
        assert_eq!((reader.f64(), reader.text()), (Some(1.5), Some("ab")));
        assert_eq!((reader.optional(), reader.optional(), reader.u8()), (Some(None), Some(Some("")), None));
    }

    #[test]
    fn a_length_that_is_not_there_gives_nothing() {
        for bytes in [&[][..], &[1], &[255, 255, 255, 255], &[5, 0, 0, 0, 1], &[1, 0, 0, 0, 0xff]] {
            assert_eq!(Reader(bytes).text(), None, "{bytes:?}");
        }
    }
}
