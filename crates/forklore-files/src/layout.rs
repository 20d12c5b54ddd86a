//! The paths of all files in the folder of a store.

use std::path::{Path, PathBuf};

use forklore_core::workspace::Workspace;
use forklore_core::{Label, SessionId};

use crate::name::Name;

/// The file name extension of a file of lines.
pub(crate) const LINES: &str = ".jsonl";
/// The suffix of a copied prefix, before [`LINES`].
pub(crate) const PREFIX: &str = ".prefix";
/// The suffix of a file that is not complete yet.
pub(crate) const UNFINISHED: &str = ".new";

/// The folder of a store.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    root: PathBuf,
}

/// A file of events: a session's own, or its copy of a prefix. The text is its path below
/// `workspaces/` without the extension.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(transparent)]
pub(crate) struct Segment(String);

impl Segment {
    pub(crate) fn of_session(workspace: &Workspace, id: &SessionId) -> Self {
        Self::at(&workspace.key(), Name::of_session(id).as_str())
    }

    /// Returns the segment of a file in the folder of a workspace.
    pub(crate) fn at(workspace: &str, name: &str) -> Self {
        Self(format!("{workspace}/{name}"))
    }

    /// Returns the segment for a copy of what this session inherits.
    pub(crate) fn prefix(&self) -> Self {
        Self(format!("{}{PREFIX}", self.0))
    }

    pub(crate) fn is_prefix(&self) -> bool {
        self.0.ends_with(PREFIX)
    }

    /// Returns the session's own segment, also if this is its prefix.
    pub(crate) fn owner(&self) -> Self {
        Self(self.0.strip_suffix(PREFIX).unwrap_or(&self.0).to_owned())
    }

    /// Returns the key of its workspace.
    pub(crate) fn workspace(&self) -> &str {
        self.0.split_once('/').map_or("", |(workspace, _)| workspace)
    }

    /// Returns the name of its session.
    pub(crate) fn name(&self) -> &str {
        let file = self.0.split_once('/').map_or(&*self.0, |(_, file)| file);
        file.strip_suffix(PREFIX).unwrap_or(file)
    }

    /// Checks whether a stored text is a valid segment, i.e. does not name another folder.
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

    /// The marker that the folder is a store, with its version.
    pub(crate) fn version(&self) -> PathBuf {
        self.root.join("forklore.json")
    }

    /// The path of which the gate's files have the prefix.
    pub(crate) fn gate(&self) -> PathBuf {
        self.root.join("store")
    }

    /// The journal of a change to several files.
    pub(crate) fn pending(&self) -> PathBuf {
        self.root.join("pending.json")
    }

    pub(crate) fn sources(&self) -> PathBuf {
        self.root.join("sources.jsonl")
    }

    /// The feed: which sessions are written to.
    pub(crate) fn feed(&self) -> PathBuf {
        self.root.join("feed.jsonl")
    }

    /// How far `sources.jsonl` is durable.
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

    /// The folder of torn tails that were cut off.
    pub(crate) fn aside(&self) -> PathBuf {
        self.root.join("aside")
    }

    pub(crate) fn segment(&self, segment: &Segment) -> PathBuf {
        self.workspaces().join(format!("{}{LINES}", segment.0))
    }

    pub(crate) fn claim(&self, name: &str) -> PathBuf {
        self.ids().join(name)
    }

    /// The folder of a family's labels.
    pub(crate) fn family(&self, root: &SessionId) -> PathBuf {
        self.labels().join(Name::of_session(root).as_str())
    }

    pub(crate) fn label(&self, root: &SessionId, label: &Label) -> PathBuf {
        self.family(root).join(Name::of_label(label).as_str())
    }
}
