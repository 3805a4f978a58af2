//! tar.

use super::intake::{Intake, Known};
use super::outgo::Taker;
use super::{damaged, unwritten};
use isolith_core::files::Node;
use isolith_core::{FilesError, FilesReason, Timestamp};
use std::io::{self, Read, Write};
use tar::{EntryType, Header};

// THREAT[T-FILES-016]: what stands before an entry to tell its long name is read into memory.
/// How long the name, or all that is told of one entry, may be.
const TOLD_BYTES_MAX: u64 = 64 << 10;

/// What was told ahead of an entry.
#[derive(Default)]
struct Ahead {
    name: Option<Vec<u8>>,
    target: Option<Vec<u8>>,
    modified: Option<Timestamp>,
}

pub(super) fn import(intake: &mut Intake<'_>, source: impl Read) -> Result<(), FilesError> {
    let mut archive = tar::Archive::new(source);
    let mut ahead = Ahead::default();
    // Raw, because the library reads what is told ahead of an entry without a bound.
    for entry in archive.entries().map_err(damaged)?.raw(true) {
        let mut entry = entry.map_err(damaged)?;
        let header = entry.header().clone();
        match header.entry_type() {
            EntryType::GNULongName => ahead.name = Some(without_end(told(&mut entry)?)),
            EntryType::GNULongLink => ahead.target = Some(without_end(told(&mut entry)?)),
            EntryType::XHeader => ahead.read_pax(&told(&mut entry)?)?,
            EntryType::XGlobalHeader => {}
            kind => {
                let Ahead { name, target, modified } = std::mem::take(&mut ahead);
                let name = name.unwrap_or_else(|| header.path_bytes().into_owned());
                let Some(place) = intake.place(&name)? else { continue };
                let seconds =
                    header.mtime().ok().map(|seconds| Timestamp::from_micros(seconds.saturating_mul(1_000_000)));
                let known = Known { mode: header.mode().ok(), modified: modified.or(seconds) };
                match kind {
                    EntryType::Directory => intake.folder(&place, known)?,
                    // Old archives tell folders by how their names end.
                    EntryType::Regular if name.ends_with(b"/") => intake.folder(&place, known)?,
                    EntryType::Regular | EntryType::Continuous => {
                        intake.file(&place, &mut whole(&mut entry, header.entry_size().map_err(damaged)?), known)?;
                    }
                    EntryType::Symlink => {
                        let target = target.or_else(|| header.link_name_bytes().map(|name| name.into_owned()));
                        intake.link(&place, &target.unwrap_or_default(), known)?;
                    }
                    EntryType::Link => {
                        return Err(
                            intake.refuse(&place, "it is a hard link: a second name for a file has to be a link")
                        );
                    }
                    _ => return Err(intake.refuse(&place, "it is no file, folder or link")),
                }
            }
        }
    }
    Ok(())
}

/// An entry that has as many bytes as it says, or is damaged.
fn whole<'a>(entry: &'a mut dyn Read, size: u64) -> impl Read + 'a {
    struct Whole<'a> {
        entry: &'a mut dyn Read,
        left: u64,
    }
    impl Read for Whole<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let read = self.entry.read(buffer)?;
            if read == 0 && self.left > 0 && !buffer.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.left = self.left.saturating_sub(read as u64);
            Ok(read)
        }
    }
    Whole { entry, left: size }
}

fn told(entry: &mut dyn Read) -> Result<Vec<u8>, FilesError> {
    let mut bytes = Vec::new();
    entry.take(TOLD_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(damaged)?;
    match bytes.len() as u64 > TOLD_BYTES_MAX {
        true => Err(FilesReason::Limit(format!("a name in the archive has more than {TOLD_BYTES_MAX} bytes")).into()),
        false => Ok(bytes),
    }
}

fn without_end(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.last() == Some(&0) {
        bytes.pop();
    }
    bytes
}

impl Ahead {
    /// Records of the form `length key=value`, each with a line end, where the length is that of the record.
    fn read_pax(&mut self, mut records: &[u8]) -> Result<(), FilesError> {
        let wrong = |why: &str| FilesError::from(FilesReason::Invalid(format!("the archive cannot be read: {why}")));
        while !records.is_empty() {
            let space = records.iter().position(|byte| *byte == b' ').ok_or_else(|| wrong("a record has no length"))?;
            let length: Option<usize> = std::str::from_utf8(&records[..space]).ok().and_then(|text| text.parse().ok());
            let length = length.filter(|length| (space + 2..=records.len()).contains(length));
            let (record, rest) = records.split_at(length.ok_or_else(|| wrong("a record has a wrong length"))?);
            records = rest;
            let record = &record[space + 1..record.len() - 1];
            let equals = record.iter().position(|byte| *byte == b'=').ok_or_else(|| wrong("a record has no value"))?;
            let (key, value) = (&record[..equals], &record[equals + 1..]);
            match key {
                b"path" => self.name = Some(value.to_vec()),
                b"linkpath" => self.target = Some(value.to_vec()),
                b"mtime" => self.modified = std::str::from_utf8(value).ok().and_then(micros),
                // Whoever reads the size there and whoever reads it in the header see different archives.
                b"size" => return Err(wrong("it gives the size of a file twice")),
                key if key.starts_with(b"GNU.sparse") => return Err(wrong("it has files with holes in them")),
                _ => {}
            }
        }
        Ok(())
    }
}

/// A moment in seconds with a fraction.
fn micros(text: &str) -> Option<Timestamp> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits: String = fraction.chars().chain("000000".chars()).take(6).collect();
    let (whole, fraction): (u64, u64) = (whole.parse().ok()?, digits.parse().ok()?);
    Some(Timestamp::from_micros(whole.checked_mul(1_000_000)?.checked_add(fraction)?))
}

pub(super) struct Writer<W: Write> {
    tape: tar::Builder<W>,
}

impl<W: Write> Writer<W> {
    pub(super) fn new(out: W) -> Writer<W> {
        Writer { tape: tar::Builder::new(out) }
    }
}

fn header(kind: EntryType, node: &Node) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(node.size);
    header.set_mode(node.mode);
    header.set_mtime(node.modified.as_micros() / 1_000_000);
    header.set_uid(0);
    header.set_gid(0);
    header
}

impl<W: Write> Taker for Writer<W> {
    fn folder(&mut self, name: &str, node: &Node) -> Result<(), FilesError> {
        let mut header = header(EntryType::Directory, node);
        self.tape.append_data(&mut header, format!("{name}/"), io::empty()).map_err(unwritten)
    }

    fn file(&mut self, name: &str, node: &Node, bytes: &mut dyn Read) -> Result<(), FilesError> {
        self.tape.append_data(&mut header(EntryType::Regular, node), name, bytes).map_err(unwritten)
    }

    fn link(&mut self, name: &str, node: &Node, target: &str) -> Result<(), FilesError> {
        self.tape.append_link(&mut header(EntryType::Symlink, node), name, target).map_err(unwritten)
    }

    fn finish(&mut self) -> Result<(), FilesError> {
        self.tape.finish().map_err(unwritten)?;
        self.tape.get_mut().flush().map_err(unwritten)
    }
}
