//! A fixed piece of work on a store, and what the store must show behind each step of it.
//!
//! The reference is the memory store, which keeps every history whole.

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

/// The file that the work imports.
pub const FILE: &str = "/home/me/agent/session.jsonl";

/// One call, or one verb of several.
#[derive(Clone, Debug)]
pub enum Step {
    /// Makes a session.
    Create(Box<NewSession>),
    /// Adds events.
    Append(SessionId, Append),
    /// Changes something that is not the log.
    Change(SessionId, Change),
    /// Deletes sessions; what others need of them stays.
    Remove(Vec<SessionId>, Timestamp),
    /// Reads the file on.
    Commit(Box<Transaction>),
    /// Gives space back.
    Collect,
    /// Reads a history.
    Read(SessionId),
    /// Keeps bytes.
    Put(Vec<u8>),
    /// Reads kept bytes.
    Get(AttachmentId),
    /// Removes the kept bytes that no event names.
    Sweep,
}

impl Step {
    /// Whether it writes.
    #[must_use]
    pub fn writes(&self) -> bool {
        !matches!(self, Self::Read(_) | Self::Get(_))
    }

    /// Whether it is about kept bytes alone: what goes wrong with them keeps nobody from sessions,
    /// nor the other way round.
    #[must_use]
    pub fn is_sidecar(&self) -> bool {
        matches!(self, Self::Put(_) | Self::Get(_) | Self::Sweep)
    }

    /// Whether it cannot be done on a full disk.
    #[must_use]
    pub fn needs_space(&self) -> bool {
        self.writes() && !matches!(self, Self::Sweep)
    }

    /// Whether it is durable when it is acknowledged; steps of an import are with the last.
    #[must_use]
    pub fn is_durable(&self) -> bool {
        match self {
            Self::Commit(all) => all.source.as_ref().is_none_or(|step| step.last),
            _ => true,
        }
    }

    /// A session that the step wrote to, and that is there behind it.
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

    /// Takes the step.
    ///
    /// # Errors
    /// Those of the store.
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

/// The step with the number that the store itself gave to the source.
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

/// Steps, and what a store shows before the first and behind each.
#[derive(Debug)]
pub struct Workload {
    /// The steps.
    pub steps: Vec<Step>,
    /// The n-th is what is there when n steps were taken.
    pub pictures: Vec<Picture>,
}

impl Workload {
    /// The work of a round: the same steps, with other texts in each.
    ///
    /// # Panics
    /// When the memory store refuses a step.
    #[must_use]
    pub fn of_round(round: u64) -> Self {
        Self::of(plan::steps(&Arc::default(), round))
    }

    /// The work on attachments of a round: kept, named, read, held by several and removed.
    ///
    /// # Panics
    /// When the memory store refuses a step.
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

    /// What the store shows, as the number of steps taken, which must be one of `allowed`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn accepted(
        &self,
        store: &dyn Store,
        allowed: std::ops::RangeInclusive<usize>,
    ) -> Result<usize, String> {
        let found = Picture::of(store, FILE).map_err(|error| format!("reading: {error}"))?;
        let mut differences = Vec::new();
        for taken in allowed.rev() {
            let Some(expected) = self.pictures.get(taken) else { continue };
            if found.fits(expected) {
                return Ok(taken);
            }
            differences.push(format!("not as after {taken} steps: {}", found.difference(expected)));
        }
        Err(differences.join("\n"))
    }
}
