//! What the pages need to show and to change files, and what may be in the way.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use forklore_core::Header;
use forklore_workspace::{WorkspaceFiles, project_folder};

use super::done::Done;
use crate::Pages;

/// How many numbers of changed files are remembered.
const REMEMBERED: usize = 4_096;

/// What whoever sends a request may do. A server puts it into the extensions of the request. Without
/// it, a request may only read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rights {
    /// Whether the request may change the store.
    pub may_write: bool,
}

impl<S: Sync> FromRequestParts<S> for Rights {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(parts.extensions.get().copied().unwrap_or_default())
    }
}

/// The snapshots of the files of a store's sessions. Clones share them.
#[derive(Clone)]
pub struct Files(Arc<Inner>);

struct Inner {
    files: WorkspaceFiles,
    /// How many files differ between two snapshots, which never change.
    counts: Mutex<HashMap<(String, String), u64>>,
    done: Done,
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Files").field(&self.0.files).finish()
    }
}

impl Files {
    /// Creates the snapshots for the pages.
    #[must_use]
    pub fn new(files: WorkspaceFiles) -> Self {
        Self(Arc::new(Inner { files, counts: Mutex::default(), done: Done::default() }))
    }

    pub(crate) fn files(&self) -> &WorkspaceFiles {
        &self.0.files
    }

    pub(crate) fn done(&self) -> &Done {
        &self.0.done
    }

    pub(super) fn remembered(&self, pair: &(String, String)) -> Option<u64> {
        self.0.counts.lock().unwrap_or_else(PoisonError::into_inner).get(pair).copied()
    }

    /// Counts the files that differ between two snapshots. `None` if one is not on this machine.
    pub(super) fn count(&self, pair: (String, String)) -> Option<u64> {
        // What cannot be counted has no number: the page of the files says why.
        let counted = self.files().count_changes(&pair.0, &pair.1).ok().flatten()?;
        let mut counts = self.0.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= REMEMBERED {
            counts.clear();
        }
        counts.insert(pair, counted);
        Some(counted)
    }
}

/// Returns the folder of a session as snapshots name it. It need not exist on this machine.
pub(super) fn folder_of(header: &Header) -> PathBuf {
    let folder = PathBuf::from(header.workspace.as_str());
    folder.canonicalize().unwrap_or(folder)
}

/// What stands against changing the files of a session from the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// The server has no snapshots.
    NoFiles,
    /// The server was not started for changing files.
    NoChat,
    /// The request may only read.
    MayOnlyRead,
    /// The session's folder is not on this machine, or is more than a project.
    NoFolder,
}

impl Obstacle {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::NoFiles => "This server has no snapshots of files.",
            Self::NoChat => {
                "This server changes no files. One that was started with serve --chat does."
            }
            Self::MayOnlyRead => "Your token may only read.",
            Self::NoFolder => "The folder of this session is not on the machine of this server.",
        }
    }
}

/// Returns the snapshots and the folder, if the page may change the files of a session.
pub(crate) fn means<'a>(
    pages: &'a Pages,
    rights: Rights,
    header: &Header,
) -> Result<(&'a Files, PathBuf), Obstacle> {
    let files = pages.files.as_ref().ok_or(Obstacle::NoFiles)?;
    if !rights.may_write {
        return Err(Obstacle::MayOnlyRead);
    }
    if !pages.has_chat {
        return Err(Obstacle::NoChat);
    }
    let folder = project_folder(header.workspace.as_str().as_ref()).ok_or(Obstacle::NoFolder)?;
    Ok((files, folder))
}
