//! The paths of all files in the folder of a store.

use std::path::{Path, PathBuf};

use forklore_core::workspace::Workspace;
use forklore_core::{Label, SessionId};

use crate::name::Name;

/// The file name extension of files that contain one JSON object per line.
pub(crate) const LINES: &str = ".jsonl";
/// The suffix in the name of a file with the copy of a session's inherited events (its prefix).
/// [`LINES`] follows it.
pub(crate) const PREFIX: &str = ".prefix";
/// The suffix in the name of a file that its writer has not completed yet.
pub(crate) const UNFINISHED: &str = ".new";

/// The paths of all files and folders in the folder of a store.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    root: PathBuf,
}

/// A file of events: a session's own file, or the copy of a session's inherited events. The string
/// is the path of the file in the folder `workspaces`, without the extension.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(transparent)]
pub(crate) struct Segment(String);

impl Segment {
    pub(crate) fn of_session(workspace: &Workspace, id: &SessionId) -> Self {
        Self::at(&workspace.key(), Name::of_session(id).as_str())
    }

    /// Returns the segment (file of events) `name` in the folder of a workspace. `workspace` is the
    /// key of the workspace.
    pub(crate) fn at(workspace: &str, name: &str) -> Self {
        Self(format!("{workspace}/{name}"))
    }

    /// Returns the segment for the copy of a session's inherited events. `self` is the session's
    /// own segment.
    pub(crate) fn prefix(&self) -> Self {
        Self(format!("{}{PREFIX}", self.0))
    }

    pub(crate) fn is_prefix(&self) -> bool {
        self.0.ends_with(PREFIX)
    }

    /// Returns the own segment of the session to which this segment belongs. If this segment is the
    /// copy of the inherited events, the result lacks its suffix.
    pub(crate) fn owner(&self) -> Self {
        Self(self.0.strip_suffix(PREFIX).unwrap_or(&self.0).to_owned())
    }

    /// Returns the key of the workspace of the session whose segment this is. The key is the name
    /// of the folder that contains the file.
    pub(crate) fn workspace(&self) -> &str {
        self.0.split_once('/').map_or("", |(workspace, _)| workspace)
    }

    /// Returns the name that all files of this segment's session share, without folder, suffix and
    /// extension.
    pub(crate) fn name(&self) -> &str {
        let file = self.0.split_once('/').map_or(&*self.0, |(_, file)| file);
        file.strip_suffix(PREFIX).unwrap_or(file)
    }

    /// Checks whether the path in the segment is valid. A segment may come from a damaged file. A
    /// valid segment cannot lead out of the folder `workspaces`.
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

    /// Returns the path of the file that marks the folder as a store. The file contains the store's
    /// version.
    pub(crate) fn version(&self) -> PathBuf {
        self.root.join("forklore.json")
    }

    /// Returns the common beginning of the paths of the store's lock files.
    pub(crate) fn gate(&self) -> PathBuf {
        self.root.join("store")
    }

    /// Returns the path of the journal, which contains an unfinished change to several files.
    pub(crate) fn pending(&self) -> PathBuf {
        self.root.join("pending.json")
    }

    pub(crate) fn sources(&self) -> PathBuf {
        self.root.join("sources.jsonl")
    }

    /// Returns the path of the log of operations.
    pub(crate) fn operations(&self) -> PathBuf {
        self.root.join("operations.jsonl")
    }

    /// Returns the path of the feed's log, which records to which sessions processes write.
    pub(crate) fn feed(&self) -> PathBuf {
        self.root.join("feed.jsonl")
    }

    /// Returns the path of the file that records how many bytes of the import log `sources.jsonl`
    /// are durable.
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

    /// Returns the path of the folder for data that is computed from the store.
    pub(crate) fn cache(&self) -> PathBuf {
        self.root.join("cache")
    }

    pub(crate) fn attachments(&self) -> PathBuf {
        self.root.join("attachments")
    }

    /// Returns the path of the folder for incomplete ends that were cut off from session files.
    pub(crate) fn aside(&self) -> PathBuf {
        self.root.join("aside")
    }

    pub(crate) fn segment(&self, segment: &Segment) -> PathBuf {
        self.workspaces().join(format!("{}{LINES}", segment.0))
    }

    pub(crate) fn claim(&self, name: &str) -> PathBuf {
        self.ids().join(name)
    }

    /// Returns the path of a family's folder of claim files. A claim file records which session has
    /// a label. A family is all sessions with the root `root`.
    pub(crate) fn family(&self, root: &SessionId) -> PathBuf {
        self.labels().join(Name::of_session(root).as_str())
    }

    pub(crate) fn label(&self, root: &SessionId, label: &Label) -> PathBuf {
        self.family(root).join(Name::of_label(label).as_str())
    }
}
