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

/// The path of the session file that the workload seems to import. No such file exists.
pub const FILE: &str = "/home/me/agent/session.jsonl";

/// One step of a test's workload: a call of the trait `Store`, or a combination of several calls.
#[derive(Clone, Debug)]
pub enum Step {
    /// Creates a session.
    Create(Box<NewSession>),
    /// Appends events to a session.
    Append(SessionId, Append),
    /// Changes a field of a session's header, such as the title.
    Change(SessionId, Change),
    /// Deletes these sessions. The timestamp is the time of the deletion. Events that other
    /// sessions need remain.
    Remove(Vec<SessionId>, Timestamp),
    /// Commits a transaction: several writes that the store makes as one. Each step of an import is
    /// such a transaction.
    Commit(Box<Transaction>),
    /// Runs the garbage collection of the store.
    Collect,
    /// Reads the whole history of a session.
    Read(SessionId),
    /// Stores these bytes as an attachment.
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

    /// Checks whether the step works on attachments and not on sessions. A failed step on
    /// attachments must not affect later steps on sessions, and vice versa.
    #[must_use]
    pub fn is_sidecar(&self) -> bool {
        matches!(self, Self::Put(_) | Self::Get(_) | Self::Sweep)
    }

    /// Checks whether the step must fail if the disk is full.
    #[must_use]
    pub fn needs_space(&self) -> bool {
        self.writes() && !matches!(self, Self::Sweep)
    }

    /// Checks whether the step is durable as soon as it is acknowledged. This is true of all steps
    /// except those of an import, which become durable together with the import's last step.
    #[must_use]
    pub fn is_durable(&self) -> bool {
        match self {
            Self::Commit(all) => all.source.as_ref().is_none_or(|step| step.last),
            _ => true,
        }
    }

    /// Returns a session that the step wrote to and that exists after the step. Returns `None` if
    /// there is none.
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

/// Returns a copy of the transaction of an import, adapted to `store`. The copy identifies the
/// imported file by the number that this store assigned to it.
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

/// A sequence of steps that a test runs on a store, with the expected contents of the store. There
/// are contents for the time before the first step and after each step.
#[derive(Debug)]
pub struct Workload {
    /// The steps of the workload, in order.
    pub steps: Vec<Step>,
    /// The expected contents of the store: element n has the contents after the first n steps.
    pub pictures: Vec<Picture>,
}

impl Workload {
    /// Creates the main workload for the test round `round`. All rounds have the same steps, with
    /// texts of different lengths.
    ///
    /// # Panics
    /// If the memory store, which supplies the expected contents, refuses a step.
    #[must_use]
    pub fn of_round(round: u64) -> Self {
        Self::of(plan::steps(&Arc::default(), round))
    }

    /// Creates a workload on attachments for the test round `round`. It stores attachments, refers
    /// to them in messages, reads and removes them, and pins one several times (a pin prevents the
    /// removal).
    ///
    /// # Panics
    /// If the memory store, which supplies the expected contents, refuses a step.
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

    /// Returns how many steps of the workload the store contains. Fails unless the number is one of
    /// `allowed`.
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
