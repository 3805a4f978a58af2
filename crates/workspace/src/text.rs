use crate::scope::Scope;
use crate::whole::{Answer, whole};
use isolith_core::files::FileTree;
use isolith_core::{Access, FilesOp, FilesReason, Grant, GuestPath, admit};

/// The text of a file that a program imports: nothing where there is no such file, or why it cannot be read.
///
/// THREAT[T-FILES-017]: an import reads a file as surely as a call does, so it takes the same grant; where someone has to be asked, it is
/// not granted, because a program has not begun when its imports are read.
pub fn module_text(tree: &dyn FileTree, grants: &[Grant], path: &str) -> Result<Option<String>, String> {
    let place = GuestPath::new(path).map_err(|error| error.to_string())?;
    if !admit::files(grants, &place, Access::Read).is_ok_and(|admitted| !admitted.ask) {
        return Err("reading it is not granted".into());
    }
    match whole(tree, &Scope::whole(), &FilesOp::read(path), &[]) {
        Ok(Answer::Bytes(bytes)) => String::from_utf8(bytes).map(Some).map_err(|_| "it is not a text in UTF-8".into()),
        Ok(Answer::Value(_)) => Ok(None),
        Err(error) if error.is_not_found() || matches!(error.reason, FilesReason::NotAFile(_)) => Ok(None),
        Err(error) => Err(error.message(path)),
    }
}
