use std::path::Path;

/// How an archive is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `.tar`
    Tar,
    /// `.tar.gz`
    TarGz,
    /// `.zip`
    Zip,
}

impl Format {
    /// The one of that name: `tar`, `tar.gz` or `zip`.
    pub fn named(name: &str) -> Option<Format> {
        match name {
            "tar" => Some(Format::Tar),
            "tar.gz" | "tgz" => Some(Format::TarGz),
            "zip" => Some(Format::Zip),
            _ => None,
        }
    }

    /// The one that a file's name ends in.
    pub fn of(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        ["tar.gz", "tgz", "tar", "zip"]
            .into_iter()
            .find(|ending| name.strip_suffix(ending).is_some_and(|rest| rest.ends_with('.') && rest.len() > 1))
            .and_then(Format::named)
    }

    /// What HTTP calls it.
    pub fn media_type(self) -> &'static str {
        match self {
            Format::Tar => "application/x-tar",
            Format::TarGz => "application/gzip",
            Format::Zip => "application/zip",
        }
    }
}
