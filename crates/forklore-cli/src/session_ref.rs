//! Parses references to sessions on the command line. Their syntax is checked before the store is
//! opened, because opening the store can create it.

use std::path::{Path, PathBuf};

use forklore::Engine;
use forklore::core::{ErrorKind, Header};
use forklore::engine::Reference;
use forklore::import::{ImportOptions, ImportedFile, Importer};

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::Output;

/// A reference to a session, with valid syntax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SessionRef {
    /// A reference to a stored session: an id, a part of an id, `last`, `@label`, `REF@label` or a
    /// title.
    Stored(String),
    /// The path of a session file of another agent.
    File(PathBuf),
}

impl SessionRef {
    /// Checks whether the reference names a session file, which a command imports into the store.
    pub(crate) fn is_file(&self) -> bool {
        matches!(self, Self::File(_))
    }

    /// Parses a reference. Text that contains `/` or `\` is a path, because no other reference
    /// contains these characters.
    ///
    /// # Errors
    /// `invalid_args` for invalid syntax. The message does not repeat the text, which may be
    /// hostile.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        if text.contains(['/', '\\']) {
            return Ok(Self::File(PathBuf::from(text)));
        }
        text.parse::<Reference>().map_err(Failure::name("reference to a session"))?;
        Ok(Self::Stored(text.to_owned()))
    }
}

/// Checks that a session file exists.
///
/// # Errors
/// `not_found` when there is no such file. The message does not repeat the path, which may be a
/// hostile id (docs/semantics.md, Envelope).
pub(crate) fn find(path: &Path) -> Result<()> {
    if path.is_file() {
        return Ok(());
    }
    let gone = Failure::refused(ErrorKind::NotFound, "there is no such session file");
    Err(gone.or_try("forklore list --all"))
}

/// Imports a session file with `engine`, and returns the session that its agent would resume. Adds
/// the other sessions of the file to the answer. If the file was imported before, reads only its
/// new records.
///
/// # Errors
/// `invalid_args` when the file contains no records of an agent that forklore supports.
pub(crate) fn import(
    app: &App,
    engine: &Engine,
    path: &Path,
    output: &mut Output,
) -> Result<Header> {
    let options = ImportOptions::in_workspace(app.workspace()?);
    let bar = output.progress();
    let paths = [path.to_owned()];
    let report =
        Importer::new(engine).import(&paths, &options, &mut |progressed| bar.show(&progressed))?;
    drop(bar);
    let Some((meant, others)) = report.first_named().and_then(ImportedFile::meant) else {
        let problem = report.problems.last().map(|problem| problem.message.as_str());
        return Err(Failure::invalid(problem.unwrap_or("the file holds no session")));
    };
    output.also(others.into_iter().cloned().collect());
    Ok(engine.show(meant)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_references_are_refused_and_not_repeated() {
        for bad in ["", "-x", "-x y", "a\u{202e}b", "\u{1b}[31mred", "a\tb"] {
            let error = SessionRef::parse(bad).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgs, "{bad:?}");
            assert!(bad.len() < 3 || !error.to_string().contains(bad), "{error}");
        }
    }

    #[test]
    fn paths_are_recognised_by_their_separators() {
        let file = |text: &str| SessionRef::parse(text).unwrap() == SessionRef::File(text.into());
        assert!(file("./a.jsonl") && file(r"C:\a.jsonl") && file("a/b@c"));
        for stored in
            ["last", "@main", "0198@fork-1", "last@plan-b", "@plan-b", "a.jsonl", "Plan B, at last"]
        {
            assert_eq!(SessionRef::parse(stored).unwrap(), SessionRef::Stored(stored.into()));
        }
    }
}
