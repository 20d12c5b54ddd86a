//! Deletes sessions. Events that other sessions need remain in the files, but the deleted session
//! no longer shows them (docs/semantics.md, Delete, detach).

use std::collections::{HashMap, HashSet};

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
    let mut found = folder.survey()?;
    let kin = Kin::of(&found.sessions, ids);
    for id in ids {
        check_removable(folder, id, &kin, children, here)?;
    }
    let mut removed = Removed::default();
    for id in ids {
        let mut session = match folder.writable(id) {
            Err(Error::Deleted(_)) => continue,
            found => found?,
        };
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
    let gone: HashSet<_> = removed.deleted.iter().collect();
    // Nothing else changed since the sessions were read, so they need not be read again.
    for outline in found.sessions.iter_mut().filter(|one| gone.contains(&one.header.id)) {
        outline.header.deleted = Some(Tombstone { deleted: now });
    }
    let needs = Needs::read(folder, &found)?;
    let stays = |session: &&Outline| {
        let (own, copy) = (&session.segment, session.segment.prefix());
        gone.contains(&session.header.id) && (needs.of(own) > 0 || needs.of(&copy) > 0)
    };
    removed.retained_segments = found.sessions.iter().filter(stays).count() as u64;
    Ok(removed)
}

/// For each session to delete: its branches that inherit events and are not deleted too. This is a
/// map, because there may be very many sessions.
struct Kin(HashMap<SessionId, Vec<SessionId>>);

impl Kin {
    fn of(sessions: &[Outline], deleted: &[SessionId]) -> Self {
        let deleted: HashSet<_> = deleted.iter().collect();
        let mut stay: HashMap<SessionId, Vec<SessionId>> = HashMap::new();
        for Outline { header, .. } in sessions {
            let parent = header.parent_id.as_ref().filter(|parent| deleted.contains(parent));
            if let Some(parent) = parent.filter(|_| builds_on_parent(header))
                && !deleted.contains(&header.id)
            {
                stay.entry(parent.clone()).or_default().push(header.id.clone());
            }
        }
        for children in stay.values_mut() {
            children.sort_by_cached_key(SessionId::fold);
        }
        Self(stay)
    }

    fn of_parent(&self, id: &SessionId) -> Vec<SessionId> {
        self.0.get(id).cloned().unwrap_or_default()
    }
}

fn check_removable(
    folder: &Folder,
    id: &SessionId,
    kin: &Kin,
    children: Children,
    now: Timestamp,
) -> Result<()> {
    let header = folder.any(id)?.header;
    if let Some(lease) = lease_of_other(&header, None, now) {
        return Err(Error::Leased { session: id.clone(), owner: lease.owner.clone() });
    }
    refuse_children(&header, children, kin.of_parent(id))
}
