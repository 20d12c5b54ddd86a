//! Copies that were imported before their original: they do not change and are linked to it
//! (docs/semantics.md, Words).

use forklore_core::header::CopyOf;
use forklore_core::{Event, Header, SessionId};
use forklore_engine::Result;
use forklore_store::port::{At, Change, LogEntry, Write};
use forklore_store::sources::{FindSource, RecordKey, Source};

use crate::copied_prefix::{DIFFERENCE, Exchange, NAMELESS};
use crate::file_session::Following;
use crate::opened::record_key;
use crate::reading::Reading;

impl Reading<'_> {
    /// Records under the original's name that this file is a copy of it.
    pub(crate) fn name_original(&mut self) {
        if self.sessions.is_empty()
            && let Some(original) = self.state.facts.copied_from.clone()
        {
            let name = self.copies_name(&original);
            if !self.batch.names.contains(&name) {
                self.batch.names.push(name);
            }
        }
    }

    /// Returns the key under which copies of `original`, a path or a native id, are found.
    fn copies_name(&self, original: &str) -> RecordKey {
        record_key(format!("{}\0copied from\0{original}", self.file.format.name()).as_bytes())
    }

    /// Returns the files that name this one as their original, oldest first.
    pub(crate) fn recorded_copies(&self) -> Result<Vec<Source>> {
        let mut found: Vec<Source> = Vec::new();
        for name in [self.file.seen.path.clone(), self.native_id()] {
            let by = FindSource::Name(self.copies_name(&name));
            for source in self.sources.sources(&by)? {
                if Some(source.id) != self.source && !found.iter().any(|it| it.id == source.id) {
                    found.push(source);
                }
            }
        }
        found.sort_by_key(|source| source.id);
        Ok(found)
    }

    /// Checks whether a file names this one as its original.
    pub(crate) fn has_copies(&self) -> Result<bool> {
        Ok(!self.sessions.is_empty() && !self.recorded_copies()?.is_empty())
    }

    /// Links copies that were imported before this file. The file's events must be in the store.
    pub(crate) fn link_copies(&mut self) -> Result<()> {
        let first = self.sessions.first().filter(|first| first.following != Following::Deleted);
        let Some(original) = first.map(|first| first.id.clone()) else { return Ok(()) };
        for copy in self.recorded_copies()? {
            let Some(session) = copy.sessions.first() else { continue };
            let header = self.engine.store().header(&session.id)?;
            if !is_unlinked_root(&header) || header.id == original {
                continue;
            }
            let index = self.alike(&original, &header.id)?;
            if index > 0 {
                let copy_of = CopyOf { session_id: original.clone(), index };
                let change = Change::CopyOf(Some(copy_of));
                self.batch.writes.push(Write::Change { session: header.id, change });
            }
        }
        Ok(())
    }

    /// Returns the number of leading conversation events that are the same in two histories: by
    /// their ids, or, if copies get new ids or records have none, by their content.
    fn alike(&self, original: &SessionId, copy: &SessionId) -> Result<u64> {
        let conversation = |session| {
            let events = self.engine.events(session, At::Index(0));
            events.filter(|stored| {
                stored
                    .as_ref()
                    .map_or(true, |stored: &LogEntry| stored.event.class.is_conversation())
            })
        };
        let mut index = 0;
        for (a, b) in conversation(original).zip(conversation(copy)) {
            let (a, b) = (a?.event, b?.event);
            if a.id != b.id && !self.is_copy(&a, &b) {
                break;
            }
            index += 1;
        }
        Ok(index)
    }

    /// Checks whether one event may be a copy of the other, although their ids differ.
    fn is_copy(&self, a: &Event, b: &Event) -> bool {
        let most = if self.file.format.renames_copies() { DIFFERENCE } else { NAMELESS };
        let renamed = self.file.format.renames_copies() || (is_made(a) && is_made(b));
        renamed
            && a.kind == b.kind
            && Exchange::of(a.data.get(), b.data.get(), most).is_some()
            && self.file.format.says_the_same(&a.kind, &a.data, &b.data)
    }
}

/// Checks whether the event's id was generated because its record had none.
fn is_made(event: &Event) -> bool {
    event.id.uuid().is_some_and(|[_, _, _, _, _, _, version, ..]| version >> 4 == 8)
}

fn is_unlinked_root(header: &Header) -> bool {
    header.parent_id.is_none() && header.copy_of.is_none() && header.deleted.is_none()
}
