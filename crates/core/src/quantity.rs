//! Durations and sizes as people write them.

use std::time::Duration;

const DURATION_UNITS: &[(&str, f64)] =
    &[("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("min", 60.0), ("h", 3600.0), ("d", 86_400.0), ("", 1.0)];

const SIZE_UNITS: &[(&str, f64)] = &[
    ("", 1.0),
    ("b", 1.0),
    ("k", 1024.0),
    ("kb", 1024.0),
    ("kib", 1024.0),
    ("m", 1048576.0),
    ("mb", 1048576.0),
    ("mib", 1048576.0),
    ("g", 1073741824.0),
    ("gb", 1073741824.0),
    ("gib", 1073741824.0),
];

/// Reads `30s`, `500ms`, `2m`; a bare number is seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let seconds = number_and_unit(text, DURATION_UNITS).ok_or("write a duration such as `30s`, `500ms` or `2m`")?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "a duration must be positive and not absurd".into())
}

/// Reads `64MiB`, `512k`; a bare number is bytes, and the units are powers of 1024.
pub fn size(text: &str) -> Result<u64, String> {
    let bytes = number_and_unit(text, SIZE_UNITS).ok_or("write a size such as `64MiB` or `512KiB`")?;
    if !(0.0..=9e15).contains(&bytes) {
        return Err("a size must be positive and not absurd".into());
    }
    Ok(bytes as u64)
}

fn number_and_unit(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let unit = unit.to_ascii_lowercase();
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    let number: f64 = number.trim().parse().ok()?;
    number.is_finite().then_some(number * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_written() {
        for (text, ms) in
            [("30s", 30_000), ("500ms", 500), ("2m", 120_000), ("1.5", 1_500), ("0", 0), (" 1 h ", 3_600_000)]
        {
            assert_eq!(duration(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "s", "-1s", "1x", "NaN", "inf", "1e300h", "ten"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_read_as_written() {
        for (text, bytes) in [("64MiB", 64 << 20), ("512k", 512 << 10), ("1g", 1 << 30), ("17", 17), ("0", 0)] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "-1", "1tb", "1e99", "M"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
