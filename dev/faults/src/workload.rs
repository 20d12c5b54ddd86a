//! A fixed workload on a store, and the contents that the store must have after each step.
//!
//! The expected contents come from the memory store, which stores every history completely.

mod attachment_names;
mod plan;

use std::sync::Arc;

use forklore_core::{AttachmentId, SessionId};
use forklore_store::memory::MemoryStore;
use forklore_store::port::{Append, Change, Children, NewSession, Transaction, Write};
use forklore_store::sources::{FindSource, SourceId, Target};
use forklore_store::{Error, Result};
use jiff::Timestamp;

use crate::picture::{self, Picture};
use crate::subject::attachments_of;
use forklore_store::Store;

/// The path of the source that the workload imports. No such file exists.
pub const FILE: &str = "/home/me/agent/session.jsonl";

/// One step of a workload: a call of the store port, or a combination of several calls.
#[derive(Clone, Debug)]
pub enum Step {
    /// Creates a session.
    Create(Box<NewSession>),
    /// Appends events.
    Append(SessionId, Append),
    /// Changes a header field that is not part of the log.
    Change(SessionId, Change),
    /// Deletes sessions. Events that other sessions need remain.
    Remove(Vec<SessionId>, Timestamp),
    /// Commits a transaction, for example a step of an import.
    Commit(Box<Transaction>),
    /// Runs garbage collection.
    Collect,
    /// Reads a history.
    Read(SessionId),
    /// Stores an attachment.
    Put(Vec<u8>),
    /// Reads an attachment.
    Get(AttachmentId),
    /// Removes the attachments that no event references.
    Sweep,
}

impl Step {
    /// Checks whether the step may change the store.
    #[must_use]
    pub fn writes(&self) -> bool {
        !matches!(self, Self::Read(_) | Self::Get(_))
    }

    /// Checks whether the step concerns attachments only. A failure of attachments must not affect
    /// sessions, and a failure of sessions must not affect attachments.
    #[must_use]
    pub fn is_sidecar(&self) -> bool {
        matches!(self, Self::Put(_) | Self::Get(_) | Self::Sweep)
    }

    /// Checks whether the step must fail on a full disk.
    #[must_use]
    pub fn needs_space(&self) -> bool {
        self.writes() && !matches!(self, Self::Sweep)
    }

    /// Checks whether the step is durable when it is acknowledged. The steps of an import become
    /// durable together with the last of them.
    #[must_use]
    pub fn is_durable(&self) -> bool {
        match self {
            Self::Commit(all) => all.source.as_ref().is_none_or(|step| step.last),
            _ => true,
        }
    }

    /// Returns a session that the step wrote to and that exists after the step.
    #[must_use]
    pub fn session(&self) -> Option<&SessionId> {
        match self {
            Self::Create(new) => Some(&new.id),
            Self::Append(id, _) | Self::Change(id, _) => Some(id),
            Self::Commit(all) => all.writes.iter().find_map(|write| match write {
                Write::Create(new) => Some(&new.id),
                Write::Append { session, .. } => Some(session),
                _ => None,
            }),
            Self::Remove(..)
            | Self::Collect
            | Self::Read(_)
            | Self::Put(_)
            | Self::Get(_)
            | Self::Sweep => None,
        }
    }

    /// Executes the step on the store.
    ///
    /// # Errors
    /// The errors of the store.
    pub fn take(&self, store: &dyn Store) -> Result<()> {
        match self {
            Self::Create(new) => {
                attachment_names::naming_pinned(store, &new.events, || {
                    store.create((**new).clone())
                })?;
            }
            Self::Append(id, append) => {
                attachment_names::naming_pinned(store, &append.events, || {
                    store.append(id, append.clone())
                })?;
            }
            Self::Change(id, change) => drop(store.change(id, change)?),
            Self::Remove(ids, now) => drop(store.remove(ids, Children::Retain, *now)?),
            Self::Commit(all) => drop(store.commit(at_home(all, store)?)?),
            Self::Collect => drop(store.gc()?),
            Self::Read(id) => drop(picture::log(store, id)?),
            Self::Put(bytes) => drop(attachments_of(store).put(&mut bytes.as_slice(), u64::MAX)?),
            Self::Get(id) => attachment_names::get(store, id)?,
            Self::Sweep => attachment_names::sweep(store)?,
        }
        Ok(())
    }
}

/// Returns a copy of the transaction in which the source has the number that this store assigned.
fn at_home(all: &Transaction, store: &dyn Store) -> Result<Transaction> {
    let mut all = all.clone();
    if let Some(step) = &mut all.source
        && let Target::State { id, .. } = &mut step.target
    {
        *id = source(store)?;
    }
    Ok(all)
}

fn source(store: &dyn Store) -> Result<SourceId> {
    let found = store.sources(&FindSource::Path(FILE.into()))?;
    let first = found.first().map(|source| source.id);
    first.ok_or_else(|| Error::Invalid("the file was not imported".into()))
}

/// A sequence of steps, and the expected contents of the store before the first step and after each
/// step.
#[derive(Debug)]
pub struct Workload {
    /// The steps.
    pub steps: Vec<Step>,
    /// The expected contents: element n is the picture after n steps.
    pub pictures: Vec<Picture>,
}

impl Workload {
    /// Creates the workload of a round. All rounds have the same steps, with texts of other
    /// lengths.
    ///
    /// # Panics
    /// If the memory store refuses a step.
    #[must_use]
    pub fn of_round(round: u64) -> Self {
        Self::of(plan::steps(&Arc::default(), round))
    }

    /// Creates the attachment workload of a round. It stores attachments, references, reads and
    /// removes them, and pins one several times.
    ///
    /// # Panics
    /// If the memory store refuses a step.
    #[must_use]
    pub fn on_attachments(round: u64) -> Self {
        Self::of(attachment_names::steps(&Arc::default(), round))
    }

    fn of(steps: Vec<Step>) -> Self {
        let mut pictures = vec![Picture::default()];
        let reference = MemoryStore::default();
        for step in &steps {
            step.take(&reference).unwrap_or_else(|error| panic!("{step:?}: {error}"));
            let picture = Picture::of(&reference, FILE);
            pictures.push(picture.expect("memory can be read"));
        }
        Self { steps, pictures }
    }

    /// Returns how many steps the store contains. Fails unless the number is one of `allowed`.
    ///
    /// # Errors
    /// The differences between the contents and those expected for each allowed number.
    pub fn accepted(
        &self,
        store: &dyn Store,
        allowed: std::ops::RangeInclusive<usize>,
    ) -> Result<usize, String> {
        let found = Picture::of(store, FILE).map_err(|error| format!("reading: {error}"))?;
        let mut differences = Vec::new();
        for steps_done in allowed.rev() {
            let Some(expected) = self.pictures.get(steps_done) else { continue };
            if found.fits(expected) {
                return Ok(steps_done);
            }
            differences
                .push(format!("not as after {steps_done} steps: {}", found.difference(expected)));
        }
        Err(differences.join("\n"))
    }
}
