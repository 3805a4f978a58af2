use isolith_core::{FilesError, FilesReason, GuestPath, PathStep};

/// The part of a tree that is open to whoever asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Nothing outside of it is touched, and no link is followed there.
    pub root: GuestPath,
    /// Places in it that are not open, with all that is below them.
    pub closed: Vec<GuestPath>,
}

impl Scope {
    /// A whole tree.
    pub fn whole() -> Scope {
        Scope { root: GuestPath::root(), closed: Vec::new() }
    }

    /// Whether everything is open.
    pub fn is_whole(&self) -> bool {
        self.root == GuestPath::root() && self.closed.is_empty()
    }

    /// Whether a place is, or is in one that is, not open.
    pub fn is_closed(&self, place: &GuestPath) -> bool {
        self.closed.iter().any(|closed| closed.covers(place))
    }

    /// Lets pass what is open.
    pub(crate) fn admit(&self, place: &GuestPath) -> Result<(), FilesError> {
        if !self.root.covers(place) {
            return Err(FilesReason::Outside { instead: None }.into());
        }
        match self.is_closed(place) {
            true => Err(FilesReason::Denied("it is under another rule").into()),
            false => Ok(()),
        }
    }

    // THREAT[T-FILES-007]: what is moved or removed with the folder that it is in is moved or removed all the same.
    /// Lets pass what can be moved, copied or removed as a whole.
    pub(crate) fn admit_whole(&self, place: &GuestPath) -> Result<(), FilesError> {
        if *place == self.root {
            return Err(FilesReason::Denied("the granted folder itself stays").into());
        }
        match self.closed.iter().any(|closed| place.covers(closed)) {
            true => Err(FilesReason::Denied("something in it is under another rule").into()),
            false => Ok(()),
        }
    }

    // THREAT[T-FILES-011]: a link that leads out is refused where it is made, so that whoever follows it elsewhere, after an export
    // or with wider grants, is not led out either.
    /// Lets pass the target of a link that leads to an open place, as far as names alone can tell.
    pub(crate) fn admit_target(&self, link: &GuestPath, target: &str) -> Result<(), FilesError> {
        let outside = || FilesError::from(FilesReason::Outside { instead: None });
        if target.is_empty() {
            return Err(FilesReason::Invalid("a link has to lead somewhere: its target is empty".into()).into());
        }
        if target.starts_with('/') {
            return Err(FilesReason::Denied("its target has to be relative to the folder that it is in").into());
        }
        let mut here = link.parent().ok_or_else(outside)?;
        for step in GuestPath::steps(target)? {
            here = match step {
                PathStep::Into(name) => here.child(name)?,
                PathStep::Up => here.parent().filter(|parent| self.root.covers(parent)).ok_or_else(outside)?,
            };
        }
        self.admit(&here)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> GuestPath {
        GuestPath::new(text).unwrap()
    }

    #[test]
    fn targets_stay_within() {
        let scope = Scope { root: path("a"), closed: vec![path("a/shut")] };
        let said = |link: &str, target: &str| {
            scope.admit_target(&path(link), target).map_err(|error| error.code()).map_or_else(|code| code, |()| "fine")
        };
        for (link, target, expected) in [
            ("a/l", "b", "fine"),
            ("a/b/l", "../c/d", "fine"),
            ("a/b/l", "..", "fine"),
            ("a/l", "..", "files.denied"),
            ("a/b/l", "../../a/x", "files.denied"),
            ("a/l", "/a/b", "files.denied"),
            ("a/l", "shut/x", "files.denied"),
            ("a/l", "", "files.invalid"),
            ("a/l", "b\\c", "files.invalid"),
        ] {
            assert_eq!(said(link, target), expected, "{link} -> {target}");
        }
    }
}
