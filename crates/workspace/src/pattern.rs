//! Globs.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use isolith_core::{FilesError, FilesReason};

/// The longest glob.
const PATTERN_BYTES_MAX: usize = 1024;
/// How many choices, as in `{a,b}`, one glob may have.
const CHOICES_MAX: usize = 32;
/// How many globs one call may bring.
const PATTERNS_MAX: usize = 64;

/// Globs, one of which has to fit.
#[derive(Debug)]
pub(crate) struct Patterns {
    set: GlobSet,
    folders_only: bool,
}

impl Patterns {
    /// One glob that is held against paths.
    pub(crate) fn path(glob: &str) -> Result<Patterns, FilesError> {
        let folders_only = glob.len() > 1 && glob.ends_with('/');
        Ok(Patterns { folders_only, ..Patterns::of(&[glob.trim_end_matches('/').to_owned()])? })
    }

    /// One glob that is held against a name.
    pub(crate) fn name(glob: &str) -> Result<Patterns, FilesError> {
        if glob.contains('/') {
            return Err(invalid(glob, "a name has no `/` in it: use `glob` for paths"));
        }
        Patterns::of(&[glob.to_owned()])
    }

    /// Globs of which those without a `/` are held against names, wherever these are.
    pub(crate) fn any(globs: &[String]) -> Result<Patterns, FilesError> {
        if globs.len() > PATTERNS_MAX {
            return Err(
                FilesReason::Limit(format!("{} globs are too many: at most {PATTERNS_MAX}", globs.len())).into()
            );
        }
        let anywhere = |glob: &String| if glob.contains('/') { glob.clone() } else { format!("**/{glob}") };
        Patterns::of(&globs.iter().map(anywhere).collect::<Vec<_>>())
    }

    // THREAT[T-FILES-015]: globs are compiled into automata that go over a path once, whatever they say, and are small.
    fn of(globs: &[String]) -> Result<Patterns, FilesError> {
        let mut set = GlobSetBuilder::new();
        for glob in globs {
            if glob.len() > PATTERN_BYTES_MAX {
                return Err(FilesReason::Limit(format!("a glob may have {PATTERN_BYTES_MAX} bytes")).into());
            }
            if glob.is_empty() || glob.contains('\0') || glob.bytes().filter(|byte| *byte == b'{').count() > CHOICES_MAX
            {
                return Err(invalid(glob, "it is empty, or has too many choices in it"));
            }
            if glob.starts_with('/') {
                let instead = glob.trim_start_matches('/').to_owned();
                return Err(about(glob, FilesReason::Outside { instead: Some(instead) }));
            }
            if glob.split('/').any(|name| name == "..") {
                return Err(about(glob, FilesReason::Outside { instead: None }));
            }
            let built = GlobBuilder::new(glob).literal_separator(true).empty_alternates(true).build();
            set.add(built.map_err(|error| invalid(glob, &error.kind().to_string()))?);
        }
        let set = set.build().map_err(|error| invalid(&globs.join(","), &error.kind().to_string()))?;
        Ok(Patterns { set, folders_only: false })
    }

    /// Whether one fits.
    pub(crate) fn fits(&self, path: &str, is_folder: bool) -> bool {
        (is_folder || !self.folders_only) && self.set.is_match(path)
    }
}

fn about(glob: &str, reason: FilesReason) -> FilesError {
    FilesError { reason, path: Some(glob.chars().take(200).collect()) }
}

fn invalid(glob: &str, why: &str) -> FilesError {
    let glob: String = glob.chars().take(200).collect();
    FilesReason::Invalid(format!("`{}` is not a glob: {why}", glob.escape_debug())).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_fit_what_they_say() {
        for (glob, path, fits) in [
            ("*.rs", "a.rs", true),
            ("*.rs", "src/a.rs", false),
            ("**/*.rs", "a.rs", true),
            ("**/*.rs", "src/deep/a.rs", true),
            ("src/**", "src/deep/a.rs", true),
            ("src/**/a.rs", "src/a.rs", true),
            ("*.{rs,toml}", "Cargo.toml", true),
            ("a?c", "abc", true),
            ("a?c", "a/c", false),
            ("[!a]b", "cb", true),
            (".*", ".git", true),
            ("*", ".hidden", true),
        ] {
            assert_eq!(Patterns::path(glob).unwrap().fits(path, false), fits, "{glob} {path}");
        }
        let folders = Patterns::path("*/").unwrap();
        assert!(folders.fits("src", true) && !folders.fits("a", false));
        let any = Patterns::any(&["*.rs".into(), "docs/*".into()]).unwrap();
        assert!(any.fits("x/y.rs", false) && any.fits("docs/a", false) && !any.fits("x/docs/a", false));
    }

    #[test]
    fn globs_that_mean_harm_are_refused() {
        let code = |glob: &str| Patterns::path(glob).map_or_else(|error| error.code(), |_| "fine");
        for (glob, expected) in [
            ("/**", "files.denied"),
            ("../*", "files.denied"),
            ("a/../../b", "files.denied"),
            ("", "files.invalid"),
            ("[a", "files.invalid"),
            ("{a", "files.invalid"),
            (&"{a,".repeat(100), "files.invalid"),
            (&"x".repeat(2000), "files.limit"),
            (&"**/".repeat(300), "fine"),
        ] {
            assert_eq!(code(glob), expected, "{glob:.40}");
        }
        assert!(Patterns::name("a/b").is_err());
        assert!(Patterns::any(&vec!["a".into(); 65]).is_err());
    }
}
