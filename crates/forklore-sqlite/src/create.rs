//! Creates a session: a root, or a child that refers to its parent's events.

use std::borrow::Cow;

use forklore_core::lineage::Span;
use forklore_core::{Counts, Header, Label, OpenCalls, SessionKind, Strategy};
use forklore_store::Error;
use forklore_store::port::{Beginning, NewSession};
use forklore_store::rules::{check_cut, check_kind};
use rusqlite::{Connection, OptionalExtension};

use crate::ancestry::{self, Ancestry, WIDTH};
use crate::copy::Staged;
use crate::fault::{Fault, Result};
use crate::feed::Written;
use crate::history::History;
use crate::read::open_calls;
use crate::segment::{self, Segment};
use crate::session::{self, Session};
use crate::tail::Tail;
use crate::write_tx::WriteTx;

/// What a child inherits from its parent: counts, open tool calls and the list of inherited ranges.
#[derive(Default)]
struct Inheritance {
    counts: Counts,
    open: OpenCalls,
    ancestry: Ancestry,
}

/// Creates a session. `staged` is an unfinished copy of the events that the session inherits, or
/// `None` if the caller has not begun to copy them.
pub(crate) fn create(
    tx: &WriteTx<'_>,
    new: &NewSession,
    staged: Option<&Staged>,
) -> Result<Header> {
    let parent = check(tx, new)?;
    let sid = next_sid(tx)?;
    let root = parent.as_ref().map_or(sid, |parent| parent.root);
    check_label(tx, root, &new.label, sid)?;
    let inheritance = match (&parent, &new.from) {
        (Some(parent), Some(from)) => inherit(tx, new, parent, from, staged)?,
        _ => Inheritance::default(),
    };
    let header =
        new.header(parent.as_ref().map(|parent| &parent.header), inheritance.counts, tx.now);
    let mut tail = Tail::after_inherited(sid, inheritance.counts, inheritance.open);
    let mut events = new.events.as_slice();
    if let (Some(_), [fork, rest @ ..]) = (&parent, events) {
        tail.push_fork(fork)?;
        events = rest;
    }
    events.iter().try_for_each(|event| tail.push(event))?;
    let mut session = Session {
        sid,
        root,
        parent: parent.map(|parent| parent.sid),
        fresh_until: header.created,
        inheritable_to: None,
        note_sum: None,
        written: Written::created(tx.number),
        header,
    };
    tail.end(tx, &mut session)?;
    if session.header.inherited.inheritable > 0 {
        ancestry::save(tx, sid, &inheritance.ancestry)?;
    }
    session::insert(tx, &mut session)?;
    Ok(session.header)
}

/// Checks the id, the kind and the cut of a new session. Returns the new session's parent, or
/// `None` for a root.
pub(crate) fn check(conn: &Connection, new: &NewSession) -> Result<Option<Session>> {
    let exists = "SELECT 1 FROM session WHERE folded = ?";
    if conn.prepare_cached(exists)?.exists([new.id.fold()])? {
        return Err(Error::IdInUse(new.id.clone()).into());
    }
    let Some(from) = check_kind(new)? else { return Ok(None) };
    let parent = session::living(conn, &from.parent)?;
    check_cut(from, &parent.header)?;
    Ok(Some(parent))
}

/// Checks that no living session of a family has this label, except possibly the session `but`. The
/// family consists of all sessions whose root is `root`.
pub(crate) fn check_label(
    conn: &Connection,
    root: Segment,
    label: &Label,
    but: Segment,
) -> Result<()> {
    let sql = "SELECT id FROM session
        WHERE root = ? AND label = ? AND (CASE WHEN deleted IS NULL THEN 0 ELSE sid END) = 0
          AND sid <> ?";
    let values = rusqlite::params![root, label.as_str(), but];
    let by: Option<String> =
        conn.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()?;
    let Some(by) = by else {
        return Ok(());
    };
    let by = by.parse().map_err(|error| Fault::damaged("session row", &error))?;
    Err(Error::LabelInUse { label: label.clone(), by }.into())
}

fn next_sid(conn: &Connection) -> Result<Segment> {
    let sql = "SELECT ifnull(max(sid), 0) + 1 FROM session";
    Ok(conn.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
}

fn inherit(
    tx: &WriteTx<'_>,
    new: &NewSession,
    parent: &Session,
    from: &Beginning,
    staged: Option<&Staged>,
) -> Result<Inheritance> {
    let inheritable = if new.kind == SessionKind::Branch { from.cut.inheritable } else { 0 };
    if inheritable == 0 {
        return Ok(Inheritance::default());
    }
    let history = History::of(tx, Cow::Borrowed(parent))?;
    let last = history.last_inheritable(tx, inheritable)?;
    let counts = last.row.counts.based_on(last.stretch.base);
    let open = match counts.open {
        0 => OpenCalls::default(),
        _ => open_calls(tx, &history, i64::try_from(last.seq).unwrap_or(i64::MAX))?,
    };
    let ancestry = match (staged, last.spans) {
        (Some(staged), _) => staged.publish(tx, parent.root, inheritable)?,
        (None, _) if from.strategy == Strategy::ReplayV1 => {
            Staged::begin(tx, &from.parent, inheritable)?.publish(tx, parent.root, inheritable)?
        }
        (None, _) if inheritable == parent.header.inherited.inheritable => history.ancestry,
        (None, Some(spans)) => spans,
        (None, None) => with_own(tx, &history, segment::position(last.row.k) + 1)?,
    };
    Ok(Inheritance { counts, open, ancestry })
}

/// Returns the ancestry (a list of inherited ranges) of a child that inherits events which its
/// parent wrote itself. It consists of the parent's list and one more range: the parent's own
/// events before position `to`. If the parent's row is full, first moves its ranges to a page,
/// which several sessions may share.
fn with_own(tx: &WriteTx<'_>, parent: &History<'_>, to: u64) -> Result<Ancestry> {
    let Session { sid, header, .. } = &*parent.session;
    let mut ancestry = parent.ancestry.clone();
    if ancestry.spans.len() >= WIDTH {
        let page = ancestry::add_page(tx, ancestry.page, &ancestry.spans, header.inherited)?;
        ancestry = Ancestry { page: Some(page), spans: Vec::new() };
        // Save the link to the page in the parent's ancestry row, so that later children of the
        // parent share the page.
        ancestry::save(tx, *sid, &ancestry)?;
    }
    ancestry.spans.push(Span { segment: sid.unsigned_abs(), to, base: header.inherited });
    Ok(ancestry)
}
