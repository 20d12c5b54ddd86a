//! The unfinished command line that the user is typing.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use forklore::blocking;
use forklore::core::workspace::Workspace;
use forklore::engine::{Engine, Scope};

use crate::{store, workspace};

/// The options and words of the unfinished command line that decide what the completed argument may
/// be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Typed {
    store: Option<String>,
    workspace: Option<PathBuf>,
    all: bool,
    /// The words that are no options: the command, and its arguments so far. Values of options that
    /// this module does not know are among them.
    pub(super) words: Vec<String>,
}

impl Typed {
    /// Reads the words of an unfinished command line, without those of the shell's own script, which
    /// end with `--`.
    pub(super) fn of(words: impl Iterator<Item = OsString>) -> Self {
        let mut words = words.skip_while(|word| word != "--").skip(2);
        let mut typed = Self::default();
        while let Some(word) = words.next() {
            let word = lossy(&word);
            match word.split_once('=').unwrap_or((&word, "")) {
                ("--store", "") => typed.store = words.next().map(|url| lossy(&url)),
                ("--store", url) => typed.store = Some(url.to_owned()),
                ("--workspace", "") => typed.workspace = words.next().map(PathBuf::from),
                ("--workspace", folder) => typed.workspace = Some(folder.into()),
                ("--all", _) => typed.all = true,
                (option, _) if option.starts_with('-') => {}
                _ => typed.words.push(word),
            }
        }
        typed
    }

    /// Opens the store that the command line or the environment names. Returns `None` if the store
    /// does not exist or cannot be read.
    pub(super) fn engine(&self) -> Option<Engine> {
        let named = self.store.clone().or_else(|| std::env::var(store::VARIABLE).ok());
        let url = store::url(named.as_deref()).ok()?;
        blocking::open_existing(&url).ok().flatten()
    }

    /// Returns the scope that the command would use: the sessions of a folder, or with `--all` the
    /// sessions of all folders. Returns `None` if the folder is the current directory and was
    /// deleted.
    pub(super) fn scope(&self) -> Option<Scope> {
        let folder = || workspace::of(self.workspace.as_deref()).ok();
        let workspace: Option<Workspace> = if self.all { None } else { Some(folder()?) };
        Some(Scope { workspace })
    }
}

fn lossy(word: &OsStr) -> String {
    word.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_choose_the_sessions_are_read() {
        let of = |line: &str| Typed::of(line.split(' ').map(OsString::from));
        let plain = of("forklore -- forklore show pl");
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        assert_eq!(plain, Typed { words: words(&["show", "pl"]), ..Typed::default() });
        for line in ["--store=files:x --workspace=/w --all", "--all --workspace /w --store files:x"]
        {
            let typed = of(&format!("forklore -- forklore {line} fork last --at t"));
            let expected = Typed {
                store: Some("files:x".to_owned()),
                workspace: Some("/w".into()),
                all: true,
                words: words(&["fork", "last", "t"]),
            };
            assert_eq!(typed, expected, "{line}");
        }
    }
}
