//! The verbs of the session store.

use std::sync::atomic::{AtomicI64, Ordering};

use forklore::import::{Importer, NoteOn, PushTo, Pushed, PushedFile};
use forklore::{Engine, Error};
use forklore_api::{Delete, DeleteMode};
use forklore_core::workspace::Workspace;
use forklore_core::{ErrorKind, SessionId};

use super::history::{self, CLAUDE};
use super::key::{ClaudeKey, name_in, project_folder};
use crate::failure::{Failure, Result};

const NANOS: i64 = 1_000_000;

/// A transcript in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The id of the session, or the subpath of a sub-agent.
    pub name: String,
    /// When a record was last added, in milliseconds since the Unix epoch.
    pub modified: i64,
    /// The summary that the last append made; `None` if there is none of the whole transcript.
    pub summary: Option<String>,
}

/// What a summary is made from.
#[derive(Clone, Copy, Debug)]
pub struct SummaryOf<'s> {
    /// The summary before the append; `None` if there is none of the whole transcript.
    pub before: Option<&'s str>,
    /// Whether the transcript has no records yet.
    pub is_new: bool,
    /// The indexes of the records that are added.
    pub fresh: &'s [usize],
}

/// A fork to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFork<'f> {
    /// The id of the fork's session.
    pub session_id: &'f str,
    /// The `uuid` of the last record that the fork inherits; `None` for all records.
    pub record: Option<&'f str>,
    /// The title of the fork.
    pub title: Option<String>,
    /// The summary of the fork.
    pub summary: Option<&'f str>,
}

/// Makes the summary of a transcript from the one before.
pub type Summary<'s> = &'s mut dyn FnMut(SummaryOf<'_>) -> Result<Option<String>, Error>;

/// The transcripts that Claude Agent SDKs pass on, in the store of an engine.
pub struct ClaudeSessions {
    engine: Engine,
    workspace: Workspace,
    /// The time of the last write, in milliseconds since the Unix epoch.
    last: AtomicI64,
}

impl ClaudeSessions {
    /// Uses the store of `engine`. Sessions whose records name no directory belong to `workspace`.
    #[must_use]
    pub fn new(engine: Engine, workspace: Workspace) -> Self {
        Self { engine, workspace, last: AtomicI64::new(0) }
    }

    /// Appends records to a transcript, each the text of a JSON object. Records that it has are left
    /// out. Returns the number of records that were added.
    ///
    /// # Errors
    /// `unsupported` if the store does not support sources, `invalid_args` if a record is no JSON
    /// object, the errors of `summary`, and failures of the store.
    pub fn append(
        &self,
        key: &ClaudeKey<'_>,
        lines: Vec<String>,
        summary: Summary<'_>,
    ) -> Result<usize> {
        let pushed = |text: String| Pushed { id: history::uuid(&text), text };
        let lines = lines.into_iter().map(pushed).collect();
        let mut note = |NoteOn { before, is_new, fresh }: NoteOn<'_>| {
            summary(SummaryOf { before, is_new, fresh })
        };
        Ok(self.importer().push(&self.target(key), lines, &mut note)?)
    }

    /// Returns the records of a transcript as one JSON list. Returns `None` if there is no such
    /// transcript. The list of a fork begins with the history that it inherits. If a record was
    /// redacted, the list has the conversation that the agent would resume, with a mark in its place.
    ///
    /// # Errors
    /// `conflict` if a part of the session was deleted, and failures of the store.
    pub fn load(&self, key: &ClaudeKey<'_>) -> Result<Option<String>> {
        let Some(file) = self.importer().pushed(&key.path())? else { return Ok(None) };
        let mut own = Vec::new();
        let lines = match (self.importer().read_pushed(&file, &mut own), &file.leaf) {
            (Err(Error::SourceRedacted { .. }), Some(leaf)) => {
                history::exported(&self.engine, leaf, None, key.session)?
            }
            (read, _) => {
                read?;
                let mut lines = Vec::new();
                history::write(&self.engine, &file, key.session, &mut lines)?;
                lines.extend(String::from_utf8_lossy(&own).lines().map(str::to_owned));
                lines
            }
        };
        Ok(Some(format!("[{}]", lines.join(","))))
    }

    /// Lists the sessions of a project, without their sub-agents.
    ///
    /// # Errors
    /// Failures of the store.
    pub fn sessions(&self, project: &str) -> Result<Vec<Listed>> {
        self.listed(&project_folder(project))
    }

    /// Returns the summary of a session. Returns `None` if there is no such session, or no summary
    /// of all its records.
    ///
    /// # Errors
    /// Failures of the store.
    pub fn summary(&self, key: &ClaudeKey<'_>) -> Result<Option<String>> {
        Ok(self.importer().pushed(&key.path())?.and_then(|file| file.note))
    }

    /// Lists the sub-agents of a session.
    ///
    /// # Errors
    /// Failures of the store.
    pub fn sub_agents(&self, key: &ClaudeKey<'_>) -> Result<Vec<Listed>> {
        self.listed(&key.session_folder())
    }

    /// Returns the session of a transcript, for the other verbs: the one that the agent would resume.
    /// Returns `None` if there is no such transcript, or if none of its records is an event.
    ///
    /// # Errors
    /// Failures of the store.
    pub fn session(&self, key: &ClaudeKey<'_>) -> Result<Option<SessionId>> {
        Ok(self.importer().pushed(&key.path())?.and_then(|file| file.leaf))
    }

    /// Deletes a transcript; that of a session with those of its sub-agents. Forks of it remain. The
    /// sessions go into the trash, or are erased if `erase` is set.
    ///
    /// # Errors
    /// `busy` if a turn runs in the session, and failures of the store.
    pub fn delete(&self, key: &ClaudeKey<'_>, erase: bool) -> Result<()> {
        if key.subpath.is_none() {
            let folder = key.session_folder();
            for file in self.importer().pushed_in(CLAUDE, &folder)? {
                let Some(name) = name_in(&folder, &file.path) else { continue };
                let sub = ClaudeKey { subpath: Some(&name), ..*key };
                self.delete_file(&sub, file, erase)?;
            }
        }
        match self.importer().pushed(&key.path())? {
            Some(file) => self.delete_file(key, file, erase),
            None => Ok(()),
        }
    }

    /// Forks a session. The fork is the transcript of another session in the same project. The time
    /// does not depend on the length of the history. Returns the session of the fork, for the other
    /// verbs.
    ///
    /// # Errors
    /// `not_found` if there is no such session, `invalid_args` if it has no messages or no such
    /// record, `already_exists` if the project has a session with the id of the fork.
    pub fn fork(&self, key: &ClaudeKey<'_>, fork: NewFork<'_>) -> Result<Option<SessionId>> {
        let Some(file) = self.importer().pushed(&key.path())? else {
            return Err(Failure::new(ErrorKind::NotFound, "the session is not in the store"));
        };
        let NewFork { session_id, record, title, summary } = fork;
        let new = ClaudeKey::new(key.project, session_id, None)?;
        if self.importer().pushed(&new.path())?.is_some() {
            let message = "the project has a session with the id of the fork";
            return Err(Failure::new(ErrorKind::AlreadyExists, message).or_try("choose another id"));
        }
        let from = self.importer().fork_point(&file, record)?;
        self.importer().push_fork(&self.target(&new), from, title, summary)?;
        self.session(&new)
    }

    fn importer(&self) -> Importer<'_> {
        Importer::new(&self.engine)
    }

    fn target(&self, key: &ClaudeKey<'_>) -> PushTo {
        PushTo {
            agent: CLAUDE.into(),
            path: key.path(),
            folder: key.folder(),
            caller: key.caller(),
            workspace: self.workspace.clone(),
            now: self.now().saturating_mul(NANOS),
        }
    }

    /// Returns the present time, later than that of all writes before, in milliseconds.
    fn now(&self) -> i64 {
        let now = self.engine.store().now().as_millisecond();
        let later = |last: i64| now.max(last.saturating_add(1));
        let change = |last| Some(later(last));
        let last = self.last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
        later(last.unwrap_or_else(|last| last))
    }

    fn listed(&self, folder: &str) -> Result<Vec<Listed>> {
        let files = self.importer().pushed_in(CLAUDE, folder)?.into_iter();
        let listed = files.filter_map(|file| {
            let name = name_in(folder, &file.path)?;
            let modified = file.modified.div_euclid(NANOS);
            Some(Listed { name, modified, summary: file.note })
        });
        Ok(listed.collect())
    }

    fn delete_file(&self, key: &ClaudeKey<'_>, mut file: PushedFile, erase: bool) -> Result<()> {
        if file.sessions.is_empty() {
            // The lines go with a session.
            self.importer().push_session(&self.target(key))?;
            let Some(begun) = self.importer().pushed(&file.path)? else { return Ok(()) };
            file = begun;
        }
        for session in file.sessions.into_iter().rev() {
            let mode = DeleteMode::DetachChildren;
            match self.engine.delete(&Delete { session, mode, erase, dry_run: false }) {
                // It went with its parent.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                deleted => drop(deleted?),
            }
        }
        Ok(())
    }
}

impl std::fmt::Debug for ClaudeSessions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClaudeSessions").field("workspace", &self.workspace).finish_non_exhaustive()
    }
}
