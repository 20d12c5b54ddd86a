//! Making a session: a root, or a child that refers to its parent's events.

use forklore_model::lineage::Span;
use forklore_model::{Counts, Data, EventId, Header, Label, OpenCalls, SessionId, SessionKind};
use forklore_store::Error;
use forklore_store::port::{Beginning, NewSession};
use rusqlite::{Connection, OptionalExtension, ToSql};

use crate::ancestry::{self, Ancestry, WIDTH};
use crate::append::Tail;
use crate::copy::Staged;
use crate::fault::{Fault, Result};
use crate::locate::History;
use crate::number::signed;
use crate::read::open_calls;
use crate::row::stored_counts;
use crate::segment::{self, Segment};
use crate::session::{self, Session, choice_codes, kind_code};
use crate::write::WriteTx;

/// What a child takes from its parent.
#[derive(Default)]
struct Inheritance {
    counts: Counts,
    open: OpenCalls,
    ancestry: Ancestry,
}

/// Makes the session. `staged` holds the copy of its prefix where it is to have one.
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
    let header = new.header(parent.as_ref().map(|parent| &parent.header), inheritance.counts);
    let mut tail = Tail::behind(sid, inheritance.counts, inheritance.open);
    let mut events = new.events.as_slice();
    if let (Some(_), [fork, rest @ ..]) = (&parent, events) {
        tail.push_fork(tx, fork)?;
        events = rest;
    }
    events.iter().try_for_each(|event| tail.push(tx, event))?;
    let mut session = Session {
        sid,
        root,
        parent: parent.map(|parent| parent.sid),
        fresh_until: new.created,
        header,
    };
    tail.end(&mut session);
    if session.header.inherited.kept > 0 {
        ancestry::save(tx, sid, &inheritance.ancestry)?;
    }
    insert(tx, &session)?;
    Ok(session.header)
}

/// Checks the id, the kind and the cut; the parent, where there is one.
pub(crate) fn check(conn: &Connection, new: &NewSession) -> Result<Option<Session>> {
    let taken = "SELECT 1 FROM session WHERE folded = ?";
    if conn.prepare_cached(taken)?.exists([new.id.fold()])? {
        return Err(Error::IdTaken(new.id.clone()).into());
    }
    let invalid = |message: String| Err(Error::Invalid(message).into());
    let Some(from) = &new.from else {
        if new.kind != SessionKind::Root {
            return invalid("a session that is no root needs a parent".into());
        }
        return Ok(None);
    };
    let parent = session::living(conn, &from.parent)?;
    if new.kind == SessionKind::Root || new.events.is_empty() {
        return invalid("a child is no root and begins with its session_fork".into());
    }
    if from.cut.kept > parent.header.counts.kept {
        return invalid(format!("the cut lies behind the end of {}", from.parent));
    }
    Ok(Some(parent))
}

/// Refuses a label that another living session of the family has.
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
    Err(Error::LabelTaken { label: label.clone(), by }.into())
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
    let kept = if new.kind == SessionKind::Branch { from.cut.kept } else { 0 };
    if kept == 0 {
        return Ok(Inheritance::default());
    }
    let history = History::of(tx, parent)?;
    let last = history.last_kept(tx, kept)?;
    let counts = last.row.counts.based_on(last.stretch.base);
    let open = match counts.open {
        0 => OpenCalls::default(),
        _ => open_calls(tx, &history, i64::try_from(last.seq).unwrap_or(i64::MAX))?,
    };
    let ancestry = match (staged, last.spans) {
        (Some(staged), _) => staged.publish(tx, parent.root, kept)?,
        (None, _) if kept == parent.header.inherited.kept => history.ancestry,
        (None, Some(spans)) => spans,
        (None, None) => with_own(tx, &history, segment::position(last.row.k) + 1)?,
    };
    Ok(Inheritance { counts, open, ancestry })
}

/// The parent's spans and one more, of its own events before position `to`. A span that
/// contributes nothing is left out, so there is none where the cut lies in what it inherited.
fn with_own(tx: &WriteTx<'_>, parent: &History<'_>, to: u64) -> Result<Ancestry> {
    let Session { sid, header, .. } = parent.session;
    let mut ancestry = parent.ancestry.clone();
    if ancestry.spans.len() >= WIDTH {
        let page = ancestry::add_page(tx, ancestry.page, &ancestry.spans, header.inherited)?;
        ancestry = Ancestry { page: Some(page), spans: Vec::new() };
        // On the parent's row, so that its later children share the page.
        ancestry::save(tx, *sid, &ancestry)?;
    }
    ancestry.spans.push(Span { segment: sid.unsigned_abs(), to, base: header.inherited });
    Ok(ancestry)
}

fn insert(tx: &WriteTx<'_>, session: &Session) -> Result<()> {
    let Session { sid, root, parent, fresh_until, header } = session;
    let (strategy, tool_calls) = choice_codes(header);
    let [kept, index, turns, bytes, open] = stored_counts(&header.counts);
    let inherited = stored_counts(&header.inherited);
    let cut = header.cut.as_ref();
    let usage = &header.usage;
    let permissions = header.permissions.as_ref().map(Data::of).transpose();
    let permissions = permissions.map_err(|error| Fault::damaged("permissions", &error))?;
    #[rustfmt::skip] // The values stand like the columns.
    let values: [&dyn ToSql; 44] = [
        sid, &header.id.as_str(), &header.id.fold(), parent, root, &kind_code(header.kind),
        &header.label.as_str(), &signed(header.depth),
        &kept, &index, &turns, &bytes, &open, &signed(header.own_events),
        &signed(header.own_bytes),
        &inherited[0], &inherited[1], &inherited[2], &inherited[3], &inherited[4],
        &header.created.as_microsecond(), &header.updated.as_microsecond(),
        &fresh_until.as_microsecond(), &strategy, &tool_calls,
        &cut.and_then(|cut| cut.seq).map(signed), &cut.map(|cut| signed(cut.index)),
        &cut.and_then(|cut| cut.message).map(signed), &cut.and_then(|cut| cut.turn).map(signed),
        &cut.and_then(|cut| cut.event_id.as_ref()).map(EventId::as_str),
        &cut.map(|cut| signed(cut.kept)),
        &signed(usage.input), &signed(usage.output), &signed(usage.cached), &usage.cost,
        &header.workspace.as_str(), &header.title, &header.principal,
        &permissions.as_ref().map(Data::get), &header.dialect,
        &header.leaf.as_ref().map(SessionId::as_str), &header.source,
        &header.copy_of.as_ref().map(|copy| copy.session_id.as_str()),
        &header.copy_of.as_ref().map(|copy| signed(copy.index)),
    ];
    tx.write(
        "INSERT INTO session (sid, id, folded, parent, root, kind,
             label, depth,
             kept, idx, turns, bytes, open, own_events,
             own_bytes,
             inherited_kept, inherited_index, inherited_turns, inherited_bytes, inherited_open,
             created, updated,
             fresh_until, strategy, tool_calls,
             cut_seq, cut_index,
             cut_message, cut_turn,
             cut_event,
             cut_kept,
             usage_input, usage_output, usage_cached, usage_cost,
             workspace, title, principal,
             permissions, dialect,
             leaf, source,
             copy_of,
             copy_index)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
             ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        &values,
    )?;
    if header.metadata.is_some() || header.config.is_some() {
        tx.write(
            "INSERT INTO session_note (sid, metadata, config) VALUES (?, ?, ?)",
            &[
                sid,
                &header.metadata.as_ref().map(Data::get),
                &header.config.as_ref().map(Data::get),
            ],
        )?;
    }
    Ok(())
}
