//! zip.

use super::intake::{Intake, Known, admit_ratio};
use super::outgo::Taker;
use super::{damaged, unwritten};
use isolith_core::files::Node;
use isolith_core::{FilesError, FilesReason, Timestamp};
use std::io::{self, Read, Seek, SeekFrom, Write};
use zip::result::ZipError;
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, DateTime, ExtraField, ZipArchive, ZipWriter};

/// How long the target of a link may be.
const TARGET_BYTES_MAX: u64 = 4096;
/// What the kind of a file is told by, in its mode.
const KIND_BITS: u32 = 0o170_000;
const KIND_FILE: u32 = 0o100_000;
const KIND_FOLDER: u32 = 0o040_000;
const KIND_LINK: u32 = 0o120_000;

pub(super) fn import(intake: &mut Intake<'_>, source: &mut (impl Read + Seek)) -> Result<(), FilesError> {
    let packed = source.seek(SeekFrom::End(0)).map_err(damaged)?;
    source.rewind().map_err(damaged)?;
    let mut archive = ZipArchive::new(source).map_err(unzipped)?;
    if archive.has_duplicate_names() {
        return Err(FilesReason::Invalid("a file comes twice in the archive".into()).into());
    }
    // THREAT[T-FILES-016]: entries that share their bytes unpack to any size.
    if archive.has_overlapping_entries().map_err(unzipped)? {
        return Err(FilesReason::Limit("entries of the archive overlap".into()).into());
    }
    let mut unpacked = 0;
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at).map_err(unzipped)?;
        let Some(place) = intake.place(entry.name_raw())? else { continue };
        let mode = entry.unix_mode();
        let utc = entry.extra_data_fields().find_map(|field| match field {
            ExtraField::ExtendedTimestamp(stamp) => stamp.mod_time(),
            _ => None,
        });
        let seconds = utc.map(u64::from).or_else(|| entry.last_modified().and_then(seconds_of));
        let modified = seconds.map(|seconds| Timestamp::from_micros(seconds * 1_000_000));
        let known = Known { mode: mode.filter(|mode| mode & 0o777 != 0), modified };
        match mode.map(|mode| mode & KIND_BITS).filter(|kind| *kind != 0) {
            _ if entry.is_dir() => intake.folder(&place, known)?,
            Some(KIND_FOLDER) => intake.folder(&place, known)?,
            Some(KIND_LINK) => {
                let mut target = Vec::new();
                (&mut entry).take(TARGET_BYTES_MAX + 1).read_to_end(&mut target).map_err(damaged)?;
                intake.link(&place, &target, known)?;
            }
            None | Some(KIND_FILE) => {
                let mut counted = Ratio { inner: &mut entry, packed, unpacked: &mut unpacked };
                intake.file(&place, &mut counted, known)?;
            }
            Some(_) => return Err(intake.refuse(&place, "it is no file, folder or link")),
        }
    }
    Ok(())
}

/// Ends when far more comes out than the whole archive holds.
struct Ratio<'a, R> {
    inner: R,
    packed: u64,
    unpacked: &'a mut u64,
}

impl<R: Read> Read for Ratio<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        *self.unpacked += read as u64;
        admit_ratio(*self.unpacked, self.packed).map_err(io::Error::other)?;
        Ok(read)
    }
}

fn unzipped(error: ZipError) -> FilesError {
    match error {
        ZipError::Io(error) => damaged(error),
        other => FilesReason::Invalid(format!("the archive cannot be read: {other}")).into(),
    }
}

fn zipped(error: ZipError) -> FilesError {
    match error {
        ZipError::Io(error) => unwritten(error),
        other => FilesReason::Io(other.to_string()).into(),
    }
}

pub(super) struct Writer<W: Write> {
    zip: Option<ZipWriter<StreamWriter<W>>>,
}

impl<W: Write> Writer<W> {
    pub(super) fn new(out: W) -> Writer<W> {
        Writer { zip: Some(ZipWriter::new_stream(out)) }
    }

    fn zip(&mut self) -> Result<&mut ZipWriter<StreamWriter<W>>, FilesError> {
        self.zip.as_mut().ok_or_else(|| FilesReason::Io("the archive is finished".into()).into())
    }
}

fn options(node: &Node) -> SimpleFileOptions {
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    options.unix_permissions(node.mode).last_modified_time(date_of(node.modified))
}

impl<W: Write> Taker for Writer<W> {
    fn folder(&mut self, name: &str, node: &Node) -> Result<(), FilesError> {
        self.zip()?.add_directory(name, options(node)).map_err(zipped)
    }

    fn file(&mut self, name: &str, node: &Node, bytes: &mut dyn Read) -> Result<(), FilesError> {
        let zip = self.zip()?;
        zip.start_file(name, options(node)).map_err(zipped)?;
        io::copy(bytes, zip).map(|_| ()).map_err(unwritten)
    }

    fn link(&mut self, name: &str, node: &Node, target: &str) -> Result<(), FilesError> {
        self.zip()?.add_symlink(name, target, options(node)).map_err(zipped)
    }

    fn finish(&mut self) -> Result<(), FilesError> {
        let Some(zip) = self.zip.take() else { return Ok(()) };
        zip.finish().map_err(zipped)?.flush().map_err(unwritten)
    }
}

const DAY_SECONDS: u64 = 24 * 60 * 60;
const DATE_MIN: u64 = 315_532_800; // 1980-01-01, the first day that a zip can tell
const DATE_MAX: u64 = 4_354_819_198; // 2107-12-31 23:59:58, the last moment

/// A moment as a zip tells it: in two seconds, and as if everyone had the same clock.
fn date_of(at: Timestamp) -> DateTime {
    let seconds = (at.as_micros() / 1_000_000).clamp(DATE_MIN, DATE_MAX);
    let (mut days, of_day) = (seconds / DAY_SECONDS, seconds % DAY_SECONDS);
    let mut year = 1970;
    while days >= days_of_year(year) {
        days -= days_of_year(year);
        year += 1;
    }
    let mut month = 1;
    while days >= days_of_month(year, month) {
        days -= days_of_month(year, month);
        month += 1;
    }
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    DateTime::from_date_and_time(year as u16, month as u8, days as u8 + 1, hour as u8, minute as u8, second as u8)
        .unwrap_or_default()
}

fn seconds_of(date: DateTime) -> Option<u64> {
    let (year, month, day) = (u64::from(date.year()), u64::from(date.month()), u64::from(date.day()));
    if !date.is_valid() || month == 0 || day == 0 {
        return None;
    }
    let days: u64 =
        (1970..year).map(days_of_year).sum::<u64>() + (1..month).map(|month| days_of_month(year, month)).sum::<u64>();
    let of_day = u64::from(date.hour()) * 3600 + u64::from(date.minute()) * 60 + u64::from(date.second());
    Some((days + day - 1) * DAY_SECONDS + of_day)
}

fn days_of_year(year: u64) -> u64 {
    if is_leap(year) { 366 } else { 365 }
}

fn days_of_month(year: u64, month: u64) -> u64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_go_there_and_back() {
        for seconds in [DATE_MIN, 951_782_400, 951_868_800, 1_709_164_800, 1_700_000_000, DATE_MAX] {
            let date = date_of(Timestamp::from_micros(seconds * 1_000_000));
            assert_eq!(seconds_of(date), Some(seconds), "{date:?}");
        }
        assert_eq!(seconds_of(date_of(Timestamp::from_micros(0))), Some(DATE_MIN), "before the first day is the first");
    }
}
