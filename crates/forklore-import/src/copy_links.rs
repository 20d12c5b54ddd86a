//! Links copies that were imported before their original. The copies' sessions remain as they are
//! and get a `copy_of` link to the original (docs/semantics.md, Words).

use forklore_core::agent_format::AgentFormat;
use forklore_core::header::CopyOf;
use forklore_core::{Event, Header, SessionId};
use forklore_engine::Result;
use forklore_store::port::{At, Change, LogEntry};
use forklore_store::sources::{FindSource, RecordKey, Source, SourceId};

use crate::agent_file::AgentFile;
use crate::batch::Batch;
use crate::lookup::Lookup;
use crate::record_keys::record_key;
use crate::record_patch::{DIFFERENCE, NAMELESS, RecordPatch};

/// Returns the key under which the store finds the imported copies of a session file. `original` is
/// that file's path or the agent's own id of its session.
pub(crate) fn copies_name(format: &dyn AgentFormat, original: &str) -> RecordKey {
    record_key(format!("{}\0copied from\0{original}", format.name()).as_bytes())
}

/// Returns the imported files that name this file as the one from which they were copied, oldest
/// first. `own` is this file's own id in the store.
pub(crate) fn recorded_copies(
    lookup: Lookup<'_>,
    file: &AgentFile<'_>,
    own: Option<SourceId>,
) -> Result<Vec<Source>> {
    let mut found: Vec<Source> = Vec::new();
    for name in [file.path(), file.native_id()] {
        let by = FindSource::Name(copies_name(file.format(), name));
        for source in lookup.sources.sources(&by)? {
            if Some(source.id) != own && !found.iter().any(|it| it.id == source.id) {
                found.push(source);
            }
        }
    }
    found.sort_by_key(|source| source.id);
    Ok(found)
}

/// Links copies that were imported before their original, the session `original`. The header of a
/// linked copy gets a `copy_of` entry. The store must already contain the events of `original`.
pub(crate) fn link(
    lookup: Lookup<'_>,
    original: &SessionId,
    copies: &[Source],
    batch: &mut Batch,
) -> Result<()> {
    for copy in copies {
        let Some(session) = copy.sessions.first() else { continue };
        let header = lookup.engine.store().header(&session.id)?;
        if !is_unlinked_root(&header) || header.id == *original {
            continue;
        }
        let index = alike(lookup, original, &header.id)?;
        if index > 0 {
            let copy_of = CopyOf { session_id: original.clone(), index };
            batch.change(header.id, Change::CopyOf(Some(copy_of)));
        }
    }
    Ok(())
}

/// Counts the leading conversation events that two sessions have in common. Compares the ids of
/// events. Compares the contents instead if the agent gives copies new ids or the records have no
/// ids.
fn alike(lookup: Lookup<'_>, original: &SessionId, copy: &SessionId) -> Result<u64> {
    let conversation = |session| {
        let events = lookup.engine.events(session, At::Index(0));
        events.filter(|stored| {
            stored.as_ref().map_or(true, |stored: &LogEntry| stored.event.class.is_conversation())
        })
    };
    let mut index = 0;
    for (a, b) in conversation(original).zip(conversation(copy)) {
        let (a, b) = (a?.event, b?.event);
        if a.id != b.id && !is_copy(lookup.format, &a, &b) {
            break;
        }
        index += 1;
    }
    Ok(index)
}

/// Checks by content whether one event may be a copy of another one with a different id.
fn is_copy(format: &dyn AgentFormat, a: &Event, b: &Event) -> bool {
    let most = if format.renames_copies() { DIFFERENCE } else { NAMELESS };
    let renamed = format.renames_copies() || (is_made(a) && is_made(b));
    renamed
        && a.kind == b.kind
        && RecordPatch::of(a.data.get(), b.data.get(), most).is_some()
        && format.says_the_same(&a.kind, &a.data, &b.data)
}

/// Checks whether the import generated the event's id because the agent's record had none. Such an
/// id is a UUID of version 8.
fn is_made(event: &Event) -> bool {
    event.id.uuid().is_some_and(|[_, _, _, _, _, _, version, ..]| version >> 4 == 8)
}

fn is_unlinked_root(header: &Header) -> bool {
    header.parent_id.is_none() && header.copy_of.is_none() && header.deleted.is_none()
}
