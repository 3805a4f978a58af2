//! Bytes become JSON; what the manifest's reader takes, it writes so that it reads the same.

use isolith_core::Manifest;

/// The target.
pub fn check(data: &[u8]) {
    let Ok(value) = serde_json::from_slice(data) else { return };
    let Ok(manifest) = Manifest::from_value(&value) else { return };
    let written = manifest.to_value();
    let again = Manifest::from_value(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
    assert_eq!(again, manifest, "{written}");
    assert_eq!(again.digest(), manifest.digest(), "{written}");
    assert_eq!(manifest.diff(&again), [], "{written}");
    for grant in &manifest.grants {
        let shown = grant.to_string();
        let read = shown.parse::<isolith_core::Grant>().unwrap_or_else(|error| panic!("{shown}: {error}"));
        assert_eq!(read.to_string(), shown);
    }
}
