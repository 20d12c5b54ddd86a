//! The test cases: forks of sessions that real agents wrote, with one fork after each record.

use std::fs;
use std::path::{Path, PathBuf};

use forklore::Engine;
use forklore::core::workspace::Workspace;
use forklore::core::{Message, Selector, SessionId};
use forklore::engine::Fork;
use forklore::import::{ImportOptions, Importer};

use crate::error::{Error, Result};

/// The maximum number of forks that a round of [`Positions::Few`] tests.
const QUICK: usize = 4;

/// A test case: a fork, and the messages that the model must receive when an agent continues it.
pub(crate) struct Case {
    pub(crate) parent: SessionId,
    pub(crate) at: u64,
    pub(crate) fork: SessionId,
    pub(crate) messages: Vec<Message>,
}

/// The kind of sessions to test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// All sessions that one agent wrote.
    Written,
    /// Sessions in which the model calls several tools at once.
    ParallelCalls,
    /// Sessions with images in messages of the user and in tool results.
    Images,
}

impl Kind {
    /// Returns the name of the folder with sessions of this kind, one subfolder per agent. `None`
    /// for sessions that are not in a folder of their own.
    fn folder(self) -> Option<&'static str> {
        match self {
            Self::Written => None,
            Self::ParallelCalls => Some("parallel"),
            Self::Images => Some("images"),
        }
    }
}

/// The positions of the sessions at which a round forks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Positions {
    /// After every record.
    All,
    /// After a few records, the last one among them.
    Few,
    /// At the end of the last session.
    Last,
}

/// Returns the directories below `sessions` that contain sessions of the agent `agent`, of the kind
/// `kind`.
pub(crate) fn folders(sessions: &[PathBuf], agent: &str, kind: Kind) -> Result<Vec<PathBuf>> {
    let Some(name) = kind.folder() else { return written(sessions, agent) };
    let own = sessions.iter().map(|folder| folder.join(name).join(agent));
    Ok(own.filter(|path| path.is_dir()).collect())
}

/// Returns the subdirectories of `sessions` with sessions that any version of the agent wrote.
fn written(sessions: &[PathBuf], agent: &str) -> Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for folder in sessions {
        let own = folder.join(agent).join("genuine");
        if own.is_dir() {
            folders.push(own);
        }
        if agent == "claude" {
            // Claude Code cannot run here, so its sessions are those of users, or else sessions
            // constructed by its rules.
            folders.extend(
                ["claude", "claude/projects"]
                    .map(|name| folder.join(name))
                    .into_iter()
                    .find(|path| path.is_dir()),
            );
        }
        if agent == "pi" {
            // Sessions of the first versions of Pi, which can no longer be started.
            let old = ["pi/v1", "pi/v2"].map(|name| folder.join(name));
            folders.extend(old.into_iter().filter(|path| path.is_dir()));
        }
        let genuine = folder.join("_genuine");
        if !genuine.is_dir() {
            continue;
        }
        for entry in fs::read_dir(&genuine).map_err(Error::file(&genuine))? {
            let path = entry.map_err(Error::file(&genuine))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with(&format!("{agent}-")) {
                folders.push(path);
            }
        }
    }
    Ok(folders)
}

/// Imports the sessions in the directories `folders` and returns the ids of these sessions, sorted.
pub(crate) fn import(engine: &Engine, folders: &[PathBuf], home: &Path) -> Result<Vec<SessionId>> {
    let workspace = Workspace::new(&home.to_string_lossy());
    let options = ImportOptions::in_workspace(workspace);
    let report = Importer::new(engine).import(folders, &options, &mut |_| {})?;
    let mut sessions: Vec<_> = report.sessions.into_iter().map(|s| s.session_id).collect();
    sessions.sort();
    sessions.dedup();
    Ok(sessions)
}

/// Returns the positions at which the sessions can be forked, as pairs of session and seq. There is
/// one position after each record that forks inherit, beginning with the first message. Returns only
/// those that `positions` requests.
pub(crate) fn forks(
    engine: &Engine,
    sessions: &[SessionId],
    positions: Positions,
) -> Result<Vec<(SessionId, u64)>> {
    let mut cuts = Vec::new();
    for session in sessions {
        let header = engine.show(session)?;
        let mut last = None;
        for seq in 0..=header.head_seq() {
            let Ok(cut) = engine.cut(&header, &Selector::Seq(seq)) else { continue };
            // An event that is not inherited does not move the cut. Before the first message, an
            // agent sends no request.
            if cut.index > 0 && cut.seq > last {
                last = cut.seq;
                cuts.extend(cut.seq.map(|seq| (session.clone(), seq)));
            }
        }
    }
    let step = match positions {
        Positions::All => return Ok(cuts),
        Positions::Few => cuts.len().div_ceil(QUICK),
        Positions::Last => cuts.len(),
    };
    // Selects every n-th position, counted from the end. The last position, with the whole history,
    // is thus included.
    Ok(cuts.into_iter().rev().step_by(step.max(1)).collect())
}

/// Forks the session `parent` after the event with the seq `at`. Returns the fork with the messages
/// that its model must receive.
pub(crate) fn fork(engine: &Engine, (parent, at): (SessionId, u64)) -> Result<Case> {
    let selector = Selector::Seq(i64::try_from(at).unwrap_or(i64::MAX));
    let fork = engine.fork(&Fork::of(parent.clone()).at(selector))?.child_session_id;
    let messages = engine.inspect(&fork)?.messages;
    Ok(Case { parent, at, fork, messages })
}
