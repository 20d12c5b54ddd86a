//! Deletes sessions. Events that other sessions need remain in the files, but the deleted session
//! no longer shows them (docs/semantics.md, Delete, detach).

use std::collections::HashSet;

use forklore_core::SessionId;
use forklore_core::header::Tombstone;
use forklore_store::port::{Children, Removal, Removed};
use forklore_store::rules::{builds_on_parent, lease_of_other, make_tombstone, refuse_children};
use forklore_store::{Error, Result};
use jiff::Timestamp;

use crate::folder::Folder;
use crate::label;
use crate::needed_events::Needs;
use crate::session::Outline;
use crate::sources::{self, Index};

/// Deletes the sessions in `removal`. If one of them cannot be deleted, deletes none. `index` is
/// the index of imported files; it may be `None` if none of the sessions was imported.
pub(crate) fn delete(folder: &Folder, index: Option<&Index>, removal: &Removal) -> Result<Removed> {
    let Removal { sessions: ids, children, now } = removal;
    let here = folder.clock.now();
    let (children, now) = (*children, (*now).min(here));
    let found = folder.survey()?;
    for id in ids {
        check_removable(folder, id, ids, &found.sessions, children, here)?;
    }
    let mut removed = Removed::default();
    for id in ids {
        if let Err(Error::Deleted(_)) = folder.living(id) {
            continue;
        }
        let mut session = folder.writable(id)?;
        let before = session.header.clone();
        make_tombstone(&mut session.header, now);
        session.header.deleted = Some(Tombstone { deleted: now });
        folder.commit(&mut session, String::new())?;
        label::free(folder, &before)?;
        removed.deleted.push(id.clone());
    }
    if let Some(index) = index {
        sources::forget_files_of(folder, index, &removed.deleted)?;
    }
    let needs = Needs::read(folder, &folder.survey()?)?;
    let gone: HashSet<_> = removed.deleted.iter().collect();
    let stays = |session: &&Outline| {
        let (own, copy) = (&session.segment, session.segment.prefix());
        gone.contains(&session.header.id) && (needs.of(own) > 0 || needs.of(&copy) > 0)
    };
    removed.retained_segments = found.sessions.iter().filter(stays).count() as u64;
    Ok(removed)
}

fn check_removable(
    folder: &Folder,
    id: &SessionId,
    ids: &[SessionId],
    sessions: &[Outline],
    children: Children,
    now: Timestamp,
) -> Result<()> {
    let header = folder.any(id)?.header;
    if let Some(lease) = lease_of_other(&header, None, now) {
        return Err(Error::Leased { session: id.clone(), owner: lease.owner.clone() });
    }
    let builds_on_it = |child: &&Outline| {
        let child = &child.header;
        child.parent_id.as_ref() == Some(id) && builds_on_parent(child) && !ids.contains(&child.id)
    };
    let stay = sessions.iter().filter(builds_on_it);
    let mut names: Vec<_> =
        stay.map(|child| (child.header.id.fold(), child.header.id.clone())).collect();
    names.sort_unstable();
    refuse_children(&header, children, names.into_iter().map(|(_, id)| id).collect())
}
