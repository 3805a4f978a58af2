//! Fields of a message, one after the other.

use super::Malformed;
use crate::Json;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Writes a message.
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn new(kind: u8, isolate: u64) -> Writer {
        let mut writer = Writer(vec![kind]);
        writer.number(isolate);
        writer
    }

    pub(super) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    pub(super) fn number(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub(super) fn maybe<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Writer, T)) {
        self.byte(value.is_some().into());
        if let Some(value) = value {
            write(self, value);
        }
    }

    pub(super) fn list<T>(&mut self, all: &[T], mut write: impl FnMut(&mut Writer, &T)) {
        self.number(all.len() as u64);
        all.iter().for_each(|one| write(self, one));
    }

    /// Small data of ours, as JSON.
    pub(super) fn data<T: Serialize + ?Sized>(&mut self, value: &T) {
        // Plain data of ours always has a JSON form; if it had not, the other side would refuse the empty text.
        self.bytes(&serde_json::to_vec(value).unwrap_or_default());
    }

    pub(super) fn done(self) -> Vec<u8> {
        self.0
    }
}

/// Reads a message. Whoever sent it may mean us harm.
// THREAT[T-REMOTE-001]: a peer announces lengths and counts that are not there, to make us allocate or panic.
pub(super) struct Reader<'a>(&'a [u8]);

type Read<T> = Result<T, Malformed>;

impl<'a> Reader<'a> {
    pub(super) fn new(message: &'a [u8]) -> Reader<'a> {
        Reader(message)
    }

    pub(super) fn byte(&mut self) -> Read<u8> {
        let (byte, rest) = self.0.split_first().ok_or(Malformed)?;
        self.0 = rest;
        Ok(*byte)
    }

    pub(super) fn flag(&mut self) -> Read<bool> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed),
        }
    }

    pub(super) fn number(&mut self) -> Read<u64> {
        let (number, rest) = self.0.split_first_chunk::<8>().ok_or(Malformed)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*number))
    }

    /// A number that fits.
    pub(super) fn small<T: TryFrom<u64>>(&mut self) -> Read<T> {
        T::try_from(self.number()?).map_err(|_| Malformed)
    }

    pub(super) fn bytes(&mut self) -> Read<&'a [u8]> {
        let length = self.small::<usize>()?;
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(Malformed)?;
        self.0 = rest;
        Ok(bytes)
    }

    pub(super) fn text(&mut self) -> Read<&'a str> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Malformed)
    }

    /// A value of a program.
    pub(super) fn json(&mut self) -> Read<Json> {
        Json::from_text(self.text()?.to_owned()).map_err(|_| Malformed)
    }

    pub(super) fn data<T: DeserializeOwned>(&mut self) -> Read<T> {
        serde_json::from_slice(self.bytes()?).map_err(|_| Malformed)
    }

    pub(super) fn maybe<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<Option<T>> {
        if self.flag()? { read(self).map(Some) } else { Ok(None) }
    }

    /// As many as are announced. Each takes a byte at least, so what is not there ends this.
    pub(super) fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let count = self.number()?;
        if count > self.0.len() as u64 {
            return Err(Malformed);
        }
        (0..count).map(|_| read(self)).collect()
    }

    /// Nothing may follow.
    pub(super) fn end(&self) -> Read<()> {
        if self.0.is_empty() { Ok(()) } else { Err(Malformed) }
    }
}
