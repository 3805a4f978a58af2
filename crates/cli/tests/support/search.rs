//! Looking for what must not be anywhere.

use super::origin::find;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use std::path::Path;

/// The magic number that begins every frame of zstd.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const UNPACKED_BYTES_MAX: usize = 256 << 20;

/// A secret in the forms in which it would be of use to whoever finds it.
pub fn forms(secret: &str) -> Vec<(&'static str, Vec<u8>)> {
    let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let percent: String = secret.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let wide: Vec<u8> = secret.encode_utf16().flat_map(u16::to_le_bytes).collect();
    vec![
        ("as it is", secret.as_bytes().to_vec()),
        ("as UTF-16", wide),
        ("as base64", STANDARD.encode(secret).trim_end_matches('=').into()),
        ("as base64url", URL_SAFE_NO_PAD.encode(secret).into()),
        ("as hex", hex.to_ascii_uppercase().into_bytes()),
        ("as hex in lower case", hex.into_bytes()),
        ("percent-encoded", percent.into_bytes()),
        ("backwards", secret.bytes().rev().collect()),
    ]
}

/// In which form a secret is in these bytes, or in what they unpack to.
pub fn found(secret: &str, bytes: &[u8]) -> Option<&'static str> {
    let unpacked = unpacked(bytes);
    forms(secret)
        .into_iter()
        .find(|(_, form)| find(bytes, form).is_some() || unpacked.iter().any(|inner| find(inner, form).is_some()))
        .map(|(name, _)| name)
}

/// Every file below a folder, with its name.
pub fn files_below(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return all };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            all.extend(files_below(&path));
        } else {
            all.push((path.display().to_string(), std::fs::read(&path).unwrap_or_default()));
        }
    }
    all
}

/// What the frames of zstd in these bytes hold, wherever they begin.
fn unpacked(bytes: &[u8]) -> Vec<Vec<u8>> {
    let starts = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(&ZSTD_MAGIC));
    starts.filter_map(|at| unpack(&bytes[at..])).collect()
}

fn unpack(bytes: &[u8]) -> Option<Vec<u8>> {
    use std::io::Read as _;
    let mut out = Vec::new();
    let decoder = zstd::stream::Decoder::new(bytes).ok()?.single_frame();
    let _ = decoder.take(UNPACKED_BYTES_MAX as u64).read_to_end(&mut out);
    (!out.is_empty()).then_some(out)
}
