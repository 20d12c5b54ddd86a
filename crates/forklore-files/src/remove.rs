//! Deletes sessions: puts them into the trash, or erases them. Events that other sessions need
//! remain in the file of the deleted session, but a read of that session does not return them
//! (docs/semantics.md, Delete, detach).

use std::collections::{HashMap, HashSet};

use forklore_core::{Header, Label, SessionId, Tombstone};
use forklore_store::feed::What;
use forklore_store::port::{Removal, Removed};
use forklore_store::rules::{
    self, Deleted, builds_on_parent, is_deleted_by, lease_of_other, refuse_children,
};
use forklore_store::{Error, Result};
use jiff::Timestamp;

use crate::folder::Folder;
use crate::label;
use crate::needed_events::Needs;
use crate::operation;
use crate::session::Outline;
use crate::sources::{self, Index};

/// Deletes the sessions in `removal`. If one of them cannot be deleted, deletes none. `index` is
/// the index of imported files; it may be `None` if none of the sessions was imported.
pub(crate) fn delete(folder: &Folder, index: Option<&Index>, removal: &Removal) -> Result<Removed> {
    let Removal { sessions: ids, deletion, now, .. } = removal;
    let here = folder.clock.now();
    let now = (*now).min(here);
    let mut found = folder.survey()?;
    let kin = Kin::of(&found.sessions, ids);
    for id in ids {
        check_removable(folder, id, &kin, removal, here)?;
    }
    let (mut removed, mut erased) = (Removed::default(), Vec::new());
    for id in ids {
        let mut session = match folder.writable_in_trash(id) {
            Err(Error::Deleted(_)) => continue,
            found => found?,
        };
        let before = session.header.clone();
        match rules::delete(&mut session.header, *deletion, now) {
            Deleted::Skipped => continue,
            Deleted::Trashed => {}
            Deleted::Erased => erased.push(id.clone()),
        }
        folder.commit(&mut session, String::new())?;
        if before.deleted.is_none() {
            label::free(folder, &before)?;
        }
        removed.deleted.push(id.clone());
    }
    if erased.is_empty() {
        return Ok(removed);
    }
    if let Some(index) = index {
        sources::forget_files_of(folder, index, &erased)?;
    }
    let gone: HashSet<_> = erased.iter().collect();
    operation::forget_names_of(folder, &gone)?;
    // Nothing else changed since the sessions were read, so they need not be read again.
    for outline in found.sessions.iter_mut().filter(|one| gone.contains(&one.header.id)) {
        outline.header.deleted = Some(Tombstone { deleted: now, restorable: false });
    }
    let needs = Needs::read(folder, &found)?;
    let stays = |session: &&Outline| {
        let (own, copy) = (&session.segment, session.segment.prefix());
        gone.contains(&session.header.id) && (needs.of(own) > 0 || needs.of(&copy) > 0)
    };
    removed.retained_segments = found.sessions.iter().filter(stays).count() as u64;
    Ok(removed)
}

/// Brings a session back from the trash, with this label. The feed reports the session as created.
pub(crate) fn undelete(folder: &Folder, id: &SessionId, label: &Label) -> Result<Header> {
    let mut session = folder.writable_in_trash(id)?;
    if rules::undelete(&mut session.header, label)? {
        label::check(folder, &session.header.root_id, label, id)?;
        label::claim(folder, &session.header.root_id, label, id)?;
        folder.commit_as(What::Created, &mut session, String::new())?;
    }
    Ok(session.header)
}

/// For each session that will be deleted, by id: the branches that depend on it and will remain. A
/// map finds them fast even if there are very many sessions.
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
    removal: &Removal,
    now: Timestamp,
) -> Result<()> {
    let header = folder.any(id)?.header;
    if !is_deleted_by(&header, removal.deletion) {
        return Ok(());
    }
    if let Some(lease) = lease_of_other(&header, None, now) {
        return Err(Error::Leased { session: id.clone(), owner: lease.owner.clone() });
    }
    refuse_children(&header, removal.children, kin.of_parent(id))
}
