//! The paths of all files in the folder of a store.

use std::path::{Path, PathBuf};

use forklore_core::workspace::Workspace;
use forklore_core::{Label, SessionId};

use crate::name::Name;

/// The file name extension of files with JSON lines.
pub(crate) const LINES: &str = ".jsonl";
/// The suffix in the file name of a copied prefix. [`LINES`] follows it.
pub(crate) const PREFIX: &str = ".prefix";
/// The suffix in the name of a file that is not complete yet.
pub(crate) const UNFINISHED: &str = ".new";

/// The paths in the folder of a store.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    root: PathBuf,
}

/// A file of events: a session's own file, or the copy of its prefix. The string is the path of the
/// file in the folder `workspaces`, without the extension.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(transparent)]
pub(crate) struct Segment(String);

impl Segment {
    pub(crate) fn of_session(workspace: &Workspace, id: &SessionId) -> Self {
        Self::at(&workspace.key(), Name::of_session(id).as_str())
    }

    /// Returns the segment for the file with this name in the folder of a workspace.
    pub(crate) fn at(workspace: &str, name: &str) -> Self {
        Self(format!("{workspace}/{name}"))
    }

    /// Returns the segment for the copy of the prefix of the session whose own segment this is.
    pub(crate) fn prefix(&self) -> Self {
        Self(format!("{}{PREFIX}", self.0))
    }

    pub(crate) fn is_prefix(&self) -> bool {
        self.0.ends_with(PREFIX)
    }

    /// Returns the own segment of the session to which this segment belongs. For a copied prefix,
    /// this removes the suffix.
    pub(crate) fn owner(&self) -> Self {
        Self(self.0.strip_suffix(PREFIX).unwrap_or(&self.0).to_owned())
    }

    /// Returns the key of the session's workspace, which is the name of the segment's folder.
    pub(crate) fn workspace(&self) -> &str {
        self.0.split_once('/').map_or("", |(workspace, _)| workspace)
    }

    /// Returns the name under which the session's files are stored.
    pub(crate) fn name(&self) -> &str {
        let file = self.0.split_once('/').map_or(&*self.0, |(_, file)| file);
        file.strip_suffix(PREFIX).unwrap_or(file)
    }

    /// Checks whether the string, which may come from a file, is a valid segment. A valid segment
    /// cannot lead out of the folder `workspaces`.
    pub(crate) fn is_sound(&self) -> bool {
        let part = |part: &str| {
            !part.is_empty()
                && part != "."
                && part != ".."
                && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-~".contains(&b))
        };
        matches!(self.0.split('/').collect::<Vec<_>>().as_slice(), [a, b] if part(a) && part(b))
    }
}

impl std::fmt::Display for Segment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "workspaces/{}{LINES}", self.0)
    }
}

impl Layout {
    pub(crate) fn of(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The file that marks the folder as a store. It contains the store's version.
    pub(crate) fn version(&self) -> PathBuf {
        self.root.join("forklore.json")
    }

    /// The path with which the names of the gate's files begin.
    pub(crate) fn gate(&self) -> PathBuf {
        self.root.join("store")
    }

    /// The file for the journal of a change to several files.
    pub(crate) fn pending(&self) -> PathBuf {
        self.root.join("pending.json")
    }

    pub(crate) fn sources(&self) -> PathBuf {
        self.root.join("sources.jsonl")
    }

    /// The log of the feed.
    pub(crate) fn feed(&self) -> PathBuf {
        self.root.join("feed.jsonl")
    }

    /// The file that records how many bytes of `sources.jsonl` are durable.
    pub(crate) fn sources_mark(&self) -> PathBuf {
        self.root.join("sources.mark")
    }

    pub(crate) fn workspaces(&self) -> PathBuf {
        self.root.join("workspaces")
    }

    pub(crate) fn ids(&self) -> PathBuf {
        self.root.join("ids")
    }

    pub(crate) fn labels(&self) -> PathBuf {
        self.root.join("labels")
    }

    pub(crate) fn attachments(&self) -> PathBuf {
        self.root.join("attachments")
    }

    /// The folder for torn tails that were cut off from session files.
    pub(crate) fn aside(&self) -> PathBuf {
        self.root.join("aside")
    }

    pub(crate) fn segment(&self, segment: &Segment) -> PathBuf {
        self.workspaces().join(format!("{}{LINES}", segment.0))
    }

    pub(crate) fn claim(&self, name: &str) -> PathBuf {
        self.ids().join(name)
    }

    /// The folder with the claims of a family's labels.
    pub(crate) fn family(&self, root: &SessionId) -> PathBuf {
        self.labels().join(Name::of_session(root).as_str())
    }

    pub(crate) fn label(&self, root: &SessionId, label: &Label) -> PathBuf {
        self.family(root).join(Name::of_label(label).as_str())
    }
}
