//! Deletes sessions: puts them into the trash, or erases them. Events that other sessions still
//! need remain in nameless segments: the segments of tombstones, and private segments
//! (docs/semantics.md, Delete, detach).

use std::collections::{BTreeMap, BTreeSet, HashSet};

use forklore_core::{Label, SessionId, Strategy};
use forklore_store::Error;
use forklore_store::feed::What;
use forklore_store::port::{Children, Removal, Removed};
use forklore_store::rules::{
    self, Deleted, delete, is_deleted_by, lease_of_other, refuse_children,
};
use rusqlite::Connection;

use crate::ancestry;
use crate::create::check_label;
use crate::fault::{Fault, Result};
use crate::feed;
use crate::integer::signed;
use crate::operation;
use crate::private_segment;
use crate::segment::Segment;
use crate::session::{self, Session};
use crate::sources;
use crate::trim::trim;
use crate::write_tx::WriteTx;

/// Deletes the sessions of `removal`. If one of them cannot be deleted, deletes none.
pub(crate) fn remove(tx: &WriteTx<'_>, removal: &Removal) -> Result<Removed> {
    let Removal { sessions: ids, children, deletion, now } = removal;
    let (children, deletion, now) = (*children, *deletion, (*now).min(tx.now));
    let set: HashSet<&str> = ids.iter().map(SessionId::as_str).collect();
    let mut sessions = Vec::with_capacity(ids.len());
    for id in ids {
        let session = match session::any(tx, id) {
            // It was deleted before, and its root or parent is lost.
            Err(Fault::Refused(Error::Deleted(_))) => continue,
            found => found?,
        };
        if !is_deleted_by(&session.header, deletion) {
            continue;
        }
        if let Some(lease) = lease_of_other(&session.header, None, tx.now) {
            return Err(Error::Leased { session: id.clone(), owner: lease.owner.clone() }.into());
        }
        if children == Children::Refuse {
            refuse_children(&session.header, children, branches(tx, &session, &set)?)?;
        }
        sessions.push(session);
    }
    let mut removed = Removed::default();
    let (mut done, mut families) = (HashSet::new(), BTreeSet::new());
    let mut gone = BTreeMap::new();
    for session in &mut sessions {
        // The same session may be named twice.
        if !done.insert(session.sid) {
            continue;
        }
        let segments = segments(tx, session)?;
        match delete(&mut session.header, deletion, now) {
            Deleted::Skipped => continue,
            Deleted::Trashed => put_into_trash(tx, session)?,
            Deleted::Erased => {
                entomb(tx, session)?;
                gone.insert(session.sid, segments);
                families.insert(session.root);
            }
        }
        removed.deleted.push(session.header.id.clone());
    }
    sources::forget_files_of(tx, gone.keys().copied())?;
    if !gone.is_empty() {
        operation::forget_names_of(tx, &removed.deleted.iter().collect())?;
    }
    let mut retained = HashSet::new();
    for root in families {
        retained.extend(trim(tx, root)?.retained);
    }
    let stays = |segments: &&Vec<Segment>| segments.iter().any(|one| retained.contains(one));
    removed.retained_segments = gone.values().filter(stays).count() as u64;
    Ok(removed)
}

/// Returns the living branches that inherit events from `session` and are not in `set`.
fn branches(conn: &Connection, session: &Session, set: &HashSet<&str>) -> Result<Vec<SessionId>> {
    let sql = "SELECT id FROM session
        WHERE parent = ? AND kind = 1 AND detached = 0 AND deleted IS NULL ORDER BY folded";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([session.sid])?;
    let mut children = Vec::new();
    while let Some(row) = rows.next()? {
        let id: String = row.get(0)?;
        if !set.contains(&*id) {
            children.push(id.parse().map_err(|error| Fault::damaged("session row", &error))?);
        }
    }
    Ok(children)
}

/// Returns the segments (groups of events stored together) of a session. One contains its own
/// events. Another contains its copy of the inherited events, if it has a copy.
fn segments(conn: &Connection, session: &Session) -> Result<Vec<Segment>> {
    let mut segments = vec![session.sid];
    let header = &session.header;
    if header.detached || header.strategy == Some(Strategy::ReplayV1) {
        let copy = ancestry::load(conn, session.sid)?.spans;
        segments.extend(copy.iter().map(|span| signed(span.segment)));
    }
    Ok(segments)
}

/// Marks the session as deleted, and removes its lease. The column `kept_to` stays empty, which
/// shows that nothing of the session was erased.
fn put_into_trash(tx: &WriteTx<'_>, session: &mut Session) -> Result<()> {
    let deleted = session.header.deleted.map(|tombstone| tombstone.deleted.as_microsecond());
    let sql = "UPDATE session SET deleted = ?, lease_owner = NULL, lease_expires = NULL,
             lease_began = NULL, feed_changed = ?, crc = ? WHERE sid = ?";
    feed::update(tx, session, What::Changed, sql, &[&deleted])
}

/// Brings a session back from the trash, with this label. The feed reports the session as created.
pub(crate) fn undelete(tx: &WriteTx<'_>, id: &SessionId, label: &Label) -> Result<()> {
    let mut session = session::unerased(tx, id)?;
    if !rules::undelete(&mut session.header, label)? {
        return Ok(());
    }
    check_label(tx, session.root, label, session.sid)?;
    let sql = "UPDATE session SET deleted = NULL, label = ?, feed_created = ?, crc = ?
         WHERE sid = ?";
    feed::update(tx, &mut session, What::Created, sql, &[&label.as_str()])
}

/// Turns the session's row into that of a tombstone: removes its title, principal, metadata,
/// configuration, leaf, lease and list of inherited events. Erases no events; [`trim`] later erases
/// those that no other session needs.
fn entomb(tx: &WriteTx<'_>, session: &mut Session) -> Result<()> {
    let deleted = session.header.deleted.map(|tombstone| tombstone.deleted.as_microsecond());
    session.inheritable_to = Some(session.header.own_events);
    session.note_sum = None;
    let own_events = signed(session.header.own_events);
    feed::update(
        tx,
        session,
        What::Changed,
        "UPDATE session SET deleted = ?, kept_to = ?, title = NULL, principal = NULL, leaf = NULL,
             lease_owner = NULL, lease_expires = NULL, lease_began = NULL, note_crc = NULL, feed_changed = ?, crc = ?
         WHERE sid = ?",
        &[&deleted, &own_events],
    )?;
    tx.write("DELETE FROM session_note WHERE sid = ?", &[&session.sid])?;
    tx.write("DELETE FROM ancestry WHERE sid = ?", &[&session.sid])?;
    Ok(())
}

/// Returns the roots of the families in which `trim` may find something to erase. These have
/// deleted sessions that still have events, or complete private copies of a prefix.
pub(crate) fn families(conn: &Connection) -> Result<Vec<Segment>> {
    let mut statement = conn.prepare("SELECT DISTINCT root FROM session WHERE kept_to > 0")?;
    let roots = statement.query_map([], |row| row.get(0))?;
    let mut roots: BTreeSet<Segment> = roots.collect::<rusqlite::Result<_>>()?;
    let complete = private_segment::all(conn)?.into_iter().filter(|one| one.heartbeat.is_none());
    roots.extend(complete.map(|private| private.root));
    Ok(roots.into_iter().collect())
}
