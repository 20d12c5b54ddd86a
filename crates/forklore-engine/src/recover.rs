//! `recover`: copies all readable data of a damaged store into a new store.
//!
//! Sessions are recreated in lineage order, with their ids, lineage, labels, titles and times. A
//! marker event replaces each event that cannot be read. The class of the marker is such that the
//! counts of all later events stay correct. Therefore seqs, indexes and the cuts of forks do not
//! change.

mod attachments;
mod copies;
mod family;
mod gap;
mod make;
mod read;
mod report;
mod source;
mod tail;

use std::collections::HashSet;

use forklore_api::Recovery;
use forklore_core::SessionId;
use forklore_store::port::{Change, Children, Deletion, Filter};

pub(crate) use self::attachments::is_damage as is_damaged_attachment;
use self::family::Family;
pub(crate) use self::make::new_session;
use self::report::Losing;
pub(crate) use self::source::{File, FileSources, is_same, spans};
use crate::lineage_order::in_lineage_order;
use crate::{Engine, Error, Result};

impl Engine {
    /// Copies all readable data of this engine's store into the store of `into`, which must be
    /// empty. Does not change this engine's store. The returned report lists the damage; damage is
    /// not an error.
    ///
    /// # Errors
    /// `already_exists` if the store of `into` has a session. Also returns any store failure that
    /// is not damage.
    pub fn recover(&self, into: &Engine) -> Result<Recovery> {
        let all = Filter { deleted: true, ..Filter::default() };
        let present = into.store.sessions(&all, None, 1)?;
        if !present.sound.is_empty() || !present.damaged.is_empty() {
            return Err(Error::NotEmpty);
        }
        let mut report = Recovery::default();
        self.salvage_attachments(into, &mut report)?;
        let mut family = Family::of(self, &mut report)?;
        family.guess_missing(self, &mut report)?;
        let sources = FileSources::of(self, into, &family, &mut report)?;
        let mut salvaging =
            Salvaging { from: self, into, family, sources, made: HashSet::new(), report };
        salvaging.make_all()?;
        salvaging.finish()?;
        let Recovery { sessions, events, sources, attachments, lost } = &salvaging.report;
        let lost = lost.len();
        tracing::info!(sessions, events, sources, attachments, lost, "salvaged a store");
        Ok(salvaging.report)
    }
}

struct Salvaging<'a> {
    from: &'a Engine,
    into: &'a Engine,
    family: Family,
    sources: FileSources,
    /// The sessions that the recovery has already created in the new store.
    made: HashSet<SessionId>,
    report: Recovery,
}

impl Salvaging<'_> {
    /// Recreates every session in the new store. A session is created after its parent and after
    /// the session before it in the same imported file.
    fn make_all(&mut self) -> Result<()> {
        for id in in_lineage_order(self.family.ids(), |id| self.needs(id)) {
            self.make(&id)?;
        }
        Ok(())
    }

    /// Returns the sessions that must be recreated before session `id`: its parent, and the session
    /// that precedes it in the same imported file.
    fn needs(&self, id: &SessionId) -> Vec<SessionId> {
        let parent = self.family.get(id).and_then(|header| header.parent_id.clone());
        self.sources.before(id).into_iter().chain(parent).collect()
    }

    /// Applies the changes for which all sessions must exist in the new store. They are: detaching
    /// sessions, recording which session of each imported file the agent would resume (the leaf),
    /// completing the imported files, and deletions. Compares the counts of the old and the new
    /// headers.
    fn finish(&mut self) -> Result<()> {
        for header in self.family.headers().filter(|header| self.made.contains(&header.id)) {
            let store = self.into.store();
            if header.detached && !header.is_erased() {
                store.change(&header.id, &Change::Detach)?;
            }
            if let Some(leaf) = &header.leaf {
                store.change(&header.id, &Change::Leaf(Some(leaf.clone())))?;
            }
        }
        self.sources.finish(self.from, self.into, &mut self.report)?;
        for header in self.family.headers().filter(|header| self.made.contains(&header.id)) {
            if !header.is_erased() {
                self.report.sessions += 1;
                if !self.family.is_guessed(&header.id) {
                    let saved = self.into.store().header(&header.id)?;
                    self.report.compare(header, &saved);
                }
            }
            if let Some(tombstone) = &header.deleted {
                let id = std::slice::from_ref(&header.id);
                let deletion = if tombstone.restorable { Deletion::Trash } else { Deletion::Erase };
                self.into.store().delete(id, Children::Retain, deletion, tombstone.deleted)?;
            }
        }
        Ok(())
    }
}
