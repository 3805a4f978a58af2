//! The key that secrets are sealed with, and where it comes from.

use crate::{StoreError, folder};
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use zeroize::{Zeroize as _, Zeroizing};

const KEY_BYTES: usize = 32;
/// The most of a file that can be a key as text.
const TEXT_BYTES_MAX: u64 = 256;

/// Where the key comes from.
#[derive(Clone)]
pub enum KeySource {
    /// The key itself, as 64 hex digits or as base64 of 32 bytes.
    Text(Zeroizing<String>),
    /// A file that holds it like that, which someone else takes care of.
    File(PathBuf),
    /// A file that holds it, which is ours, and is made when a key is first needed.
    Own(PathBuf),
}

/// 32 bytes, wiped when they go.
pub(super) struct Key(Zeroizing<[u8; KEY_BYTES]>);

impl KeySource {
    /// `$ISOLITH_KEY`, or the file that `$ISOLITH_KEY_FILE` names, or the file `key` in the data folder.
    pub fn from_environment(data: &Path) -> KeySource {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        match (set("ISOLITH_KEY"), set("ISOLITH_KEY_FILE")) {
            // Text that is not Unicode is no key either way, and is refused as one when it is used.
            (Some(key), _) => KeySource::Text(Zeroizing::new(key.into_string().unwrap_or_default())),
            (None, Some(path)) => KeySource::File(path.into()),
            (None, None) => KeySource::Own(data.join("key")),
        }
    }

    /// The key, or nothing when it is ours and was not made yet.
    pub(super) fn read(&self) -> Result<Option<Key>, StoreError> {
        let cannot = |path: &Path, error: io::Error| StoreError::Key(format!("`{}`: {error}", path.display()));
        let text = match self {
            KeySource::Text(text) => text.clone(),
            KeySource::File(path) => read_text(path, Mode::Any).map_err(|error| cannot(path, error))?,
            KeySource::Own(path) => match read_text(path, Mode::Private) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                other => other.map_err(|error| cannot(path, error))?,
            },
        };
        let wrong = || StoreError::Key(format!("{self} holds no key: 64 hex digits, or base64 of 32 bytes"));
        parse(&text).map(Some).ok_or_else(wrong)
    }

    /// The key, made now if it is ours to make.
    pub(super) fn read_or_make(&self) -> Result<Key, StoreError> {
        if let Some(key) = self.read()? {
            return Ok(key);
        }
        let KeySource::Own(path) = self else { return Err(StoreError::Key(self.missing())) };
        make(path)?;
        // Read again, since another process may have been first.
        self.read()?.ok_or_else(|| StoreError::Key(self.missing()))
    }

    /// Waits until a key that is ours is on disk under its name: whoever made it may not have come to that.
    pub(super) fn settle(&self) -> Result<(), StoreError> {
        let KeySource::Own(path) = self else { return Ok(()) };
        let synced = path.parent().map_or(Ok(()), folder::sync);
        synced.map_err(|error| StoreError::Key(format!("`{}`: {error}", path.display())))
    }

    pub(super) fn missing(&self) -> String {
        format!("{self} is not there; put the key back, or set ISOLITH_KEY or ISOLITH_KEY_FILE")
    }
}

impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeySource::Text(_) => f.write_str("ISOLITH_KEY"),
            KeySource::File(path) | KeySource::Own(path) => write!(f, "`{}`", path.display()),
        }
    }
}

impl fmt::Debug for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Key {
    pub(super) fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }
}

/// Who else may read the file.
#[derive(PartialEq, Eq)]
enum Mode {
    /// Whoever takes care of the file decides that.
    Any,
    /// Nobody.
    Private,
}

fn read_text(path: &Path, mode: Mode) -> io::Result<Zeroizing<String>> {
    let file = File::open(path)?;
    let found = file.metadata()?;
    // THREAT[T-SECRET-017]: a key that others can read protects nothing, and nobody would notice.
    if mode == Mode::Private && found.permissions().mode() & 0o077 != 0 {
        return Err(io::Error::other("others can read it: `chmod 600` it, and consider it known"));
    }
    let mut text = Zeroizing::new(String::with_capacity(TEXT_BYTES_MAX as usize));
    file.take(TEXT_BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}

/// Makes a key file, unless there is one. It appears whole: others never find half a key.
fn make(path: &Path) -> Result<(), StoreError> {
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    random(&mut *key)?;
    let mut text = Zeroizing::new(String::with_capacity(2 * KEY_BYTES + 1));
    for byte in key.iter() {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(digit), 16).unwrap_or_default());
        }
    }
    text.push('\n');
    let mut suffix = [0; 8];
    random(&mut suffix)?;
    let unfinished = path.with_extension(format!("{:016x}", u64::from_ne_bytes(suffix)));
    let put = || {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        // A link and not a rename: it fails where there is a file already.
        match std::fs::hard_link(&unfinished, path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        // Before its folder is on disk: a second copy of a key is one too many.
        let _ = std::fs::remove_file(&unfinished);
        path.parent().map_or(Ok(()), folder::sync)
    };
    let done = put();
    let _ = std::fs::remove_file(&unfinished);
    done.map_err(|error| StoreError::Key(format!("cannot make `{}`: {error}", path.display())))
}

pub(crate) fn random(bytes: &mut [u8]) -> Result<(), StoreError> {
    let mut filled = 0;
    while filled < bytes.len() {
        match rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty()) {
            Ok(more) => filled += more,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(StoreError::Key(format!("the system has no randomness: {error}"))),
        }
    }
    Ok(())
}

fn parse(text: &str) -> Option<Key> {
    let text = text.trim();
    let bits_per_digit = if text.len() == 2 * KEY_BYTES { 4 } else { 6 };
    let digits = if bits_per_digit == 6 { text.trim_end_matches('=') } else { text };
    let mut key = Key(Zeroizing::new([0; KEY_BYTES]));
    let (mut pending, mut bits, mut filled) = (0u32, 0, 0);
    for byte in digits.bytes() {
        let digit = if bits_per_digit == 4 { char::from(byte).to_digit(16)? } else { sextet(byte)? };
        pending = pending << bits_per_digit | digit;
        bits += bits_per_digit;
        if bits >= 8 {
            bits -= 8;
            *key.0.get_mut(filled)? = (pending >> bits) as u8;
            pending &= (1 << bits) - 1;
            filled += 1;
        }
    }
    // Bits that are left over have to be zero, or two texts would be the same key.
    let whole = filled == KEY_BYTES && pending == 0 && bits < bits_per_digit;
    pending.zeroize();
    whole.then_some(key)
}

fn sextet(byte: u8) -> Option<u32> {
    Some(u32::from(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_exactly_32_bytes() {
        let hex = "00ff".repeat(16);
        let base64 = "AP8A/wD/AP8A/wD/AP8A/wD/AP8A/wD/AP8A/wD/AP8=";
        for good in [&*hex, &*hex.to_uppercase(), base64, &base64.replace('/', "_"), base64.trim_end_matches('=')] {
            let key = parse(&format!("{good}\n")).unwrap();
            assert_eq!(key.bytes()[..4], [0, 255, 0, 255], "{good}");
            assert_eq!(key.bytes()[28..], [0, 255, 0, 255], "{good}");
        }
        for bad in [
            "",
            "x",
            &hex[1..],
            &format!("{hex}00"),
            "password",
            &base64[4..],
            &base64.replace("8=", "9="),
            &"é".repeat(32),
        ] {
            assert!(parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_key_is_not_printed() {
        let source = KeySource::Text(Zeroizing::new("00ff".repeat(16)));
        assert_eq!(format!("{source} {source:?}"), "ISOLITH_KEY ISOLITH_KEY");
    }
}
