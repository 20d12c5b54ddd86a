//! Workspaces: the folders that sessions belong to, and short keys derived from their paths
//! (docs/semantics.md, Workspaces).

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::id::hex;

/// A workspace: the full path of a folder, stored and compared as a string.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Workspace(String);

impl Workspace {
    /// Returns the workspace of `path`, without trailing slashes. In a path that begins with a
    /// drive letter or `\\`, each `\` becomes `/`.
    #[must_use]
    pub fn new(path: &str) -> Self {
        let path = if is_windows(path) { Cow::Owned(path.replace('\\', "/")) } else { path.into() };
        let stripped = path.trim_end_matches('/');
        Self(if stripped.is_empty() && !path.is_empty() { "/" } else { stripped }.to_owned())
    }

    /// Returns the path.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the last component of the path; `root` for the path `/`.
    #[must_use]
    pub fn name(&self) -> &str {
        match self.0.rsplit('/').next() {
            Some("") | None => "root",
            Some(name) => name,
        }
    }

    /// Returns the workspace's key: its name, `-`, and the first 12 hex digits of the path's
    /// SHA-256. In the name, each character other than ASCII letters, digits, `.`, `_` and `-`
    /// becomes `_`; the name is truncated to 32 characters.
    ///
    /// ```
    /// use forklore_core::workspace::Workspace;
    /// assert_eq!(Workspace::new("/tmp/demo/").key(), "demo-84a8cd7d7a26");
    /// ```
    #[must_use]
    pub fn key(&self) -> String {
        let safe = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
        let name: String = self.name().chars().map(safe).take(32).collect();
        let digest = hex(&Sha256::digest(self.0.as_bytes()));
        format!("{name}-{}", &digest[..12])
    }
}

fn is_windows(path: &str) -> bool {
    let drive = path.as_bytes();
    path.starts_with("\\\\") || matches!(drive, [letter, b':', ..] if letter.is_ascii_alphabetic())
}

impl std::fmt::Display for Workspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_the_documented_ones() {
        let key = |path: &str| Workspace::new(path).key();
        assert_eq!(key("/tmp/demo"), "demo-84a8cd7d7a26");
        assert_eq!(key("/tmp/demo/"), "demo-84a8cd7d7a26");
        assert_eq!(key("/"), "root-8a5edab28263");
        assert_eq!(key("/Users/me/project"), "project-8779b387e6b0");
        assert_eq!(key(r"C:\Users\me\proj"), "proj-4045ff9b01fe");
    }

    #[test]
    fn paths_that_look_alike_stay_apart() {
        assert_ne!(Workspace::new("/tmp/a b").key(), Workspace::new("/tmp/a_b").key());
        assert_ne!(Workspace::new("/x/demo").key(), Workspace::new("/y/demo").key());
    }
}
