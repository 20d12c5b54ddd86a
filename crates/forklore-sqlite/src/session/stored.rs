//! The columns of a session's row, and their two checksums: one for the columns that identify the
//! session, one for all others.
//!
//! Reading a child also needs the identifying columns of its ancestors. They have a checksum of
//! their own, so that a damaged title of a parent does not make its children unreadable.

use std::sync::LazyLock;

use forklore_core::{Data, EventId, SessionId};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Row, ToSql};

use super::{Session, choice_codes, kind_code};
use crate::crc::Fields;
use crate::fault::{Fault, Result};
use crate::number::signed;
use crate::row::stored_counts;
use crate::write_tx::WriteTx;

/// The columns that identify a session. They never change.
const IDENTITY: [&str; 12] = [
    "sid",
    "id",
    "folded",
    "parent",
    "root",
    "kind",
    "depth",
    "inherited_kept",
    "inherited_index",
    "inherited_turns",
    "inherited_bytes",
    "inherited_open",
];

/// All other columns of a session's row.
#[rustfmt::skip] // The columns are grouped by topic.
const STATE: [&str; 43] = [
    "label", "title",
    "kept", "idx", "turns", "bytes", "open", "own_events", "own_bytes",
    "created", "updated",
    "lease_owner", "lease_expires", "lease_began",
    "detached", "deleted",
    "strategy", "tool_calls",
    "cut_seq", "cut_index", "cut_message", "cut_turn", "cut_event", "cut_kept",
    "usage_input", "usage_output", "usage_cached", "usage_cost",
    "workspace", "principal", "permissions", "dialect", "leaf", "source", "copy_of", "copy_index",
    "feed_created", "feed_appended", "feed_changed", "feed_until",
    "fresh_until", "kept_to", "note_crc",
];

/// The `..._AT` constants are column indexes, from 0, in the result of a query that starts with
/// [`SELECTED`]. Each is the index at which a group of columns begins.
pub(super) const IDENTITY_AT: usize = 0;
/// The ids of the root and the parent begin here.
pub(super) const KIN_AT: usize = IDENTITY_AT + IDENTITY.len();
const IDENTITY_SUM_AT: usize = KIN_AT + 2;
/// The columns of [`IDENTIFIED`] end here.
pub(super) const STATE_AT: usize = IDENTITY_SUM_AT + 1;
/// The columns of the state that are not in the header begin here.
pub(super) const MORE_AT: usize = STATE_AT + STATE.len() - 3;
/// The feed columns begin here. In rows that were written before the feed existed, they are NULL
/// and add nothing to the checksum.
pub(super) const WRITTEN_AT: usize = MORE_AT - 4;
const STATE_SUM_AT: usize = STATE_AT + STATE.len();
/// The session's notes begin here, if a query selects them.
pub(super) const NOTES_AT: usize = STATE_SUM_AT + 1;

/// The tables that [`SELECTED`] refers to.
pub(super) const TABLES: &str = "session s";

/// The SQL expressions for the ids of the root and the parent. They are subqueries because SQLite
/// prepares two subqueries in fewer steps than two joins.
const KIN: &str = "(SELECT id FROM session WHERE sid = s.root),
    (SELECT id FROM session WHERE sid = s.parent)";

/// The select list for a session's identity: the identifying columns, the ids of its root and
/// parent, and the checksum.
pub(super) static IDENTIFIED: LazyLock<String> = LazyLock::new(|| {
    format!("{}, {KIN}, identity_crc", IDENTITY.map(|column| format!("s.{column}")).join(", "))
});

/// The select list for all columns of a session's row, with the ids of its root and parent.
pub(super) static SELECTED: LazyLock<String> =
    LazyLock::new(|| format!("{}, {}, crc", *IDENTIFIED, STATE.join(", ")));

static INSERT: LazyLock<String> = LazyLock::new(|| {
    let (identity, state) = (IDENTITY.join(", "), STATE.join(", "));
    let values = vec!["?"; IDENTITY.len() + STATE.len() + 2].join(", ");
    format!(
        "INSERT INTO session ({identity}, {state}, identity_crc, crc)
         VALUES ({values})"
    )
});

/// Inserts the row of a new session.
pub(crate) fn insert(tx: &WriteTx<'_>, session: &Session) -> Result<()> {
    let folded = session.header.id.fold();
    let permissions = permissions(session)?;
    let identity = identity(session, &folded);
    let state = state(session, permissions.as_ref());
    let sums = [identity_sum(&identity, session), state_sum(session.sid, &state)];
    let values = identity.into_iter().chain(state).chain(sums.map(ValueRef::Integer));
    let values: Vec<_> = values.map(ToSqlOutput::Borrowed).collect();
    let values: Vec<_> = values.iter().map(|value| value as &dyn ToSql).collect();
    tx.write(&INSERT, &values)?;
    Ok(())
}

/// Writes changed columns of a session's row. `sql` is an `UPDATE` with the columns of `values`,
/// then `crc` and `sid`.
pub(crate) fn update(
    tx: &WriteTx<'_>,
    session: &Session,
    sql: &str,
    values: &[&dyn ToSql],
) -> Result<()> {
    let permissions = permissions(session)?;
    let sum = state_sum(session.sid, &state(session, permissions.as_ref()));
    let mut all = values.to_vec();
    all.extend([&sum as &dyn ToSql, &session.sid]);
    tx.write(sql, &all)?;
    Ok(())
}

/// Checks the checksum of the identifying columns in a row of [`IDENTIFIED`] or [`SELECTED`].
pub(super) fn check_identity(row: &Row<'_>) -> Result<()> {
    let sum = sum_of(row, Fields::default(), IDENTITY_AT..IDENTITY_SUM_AT)?;
    check(row, sum, IDENTITY_SUM_AT, "the fields that tell who it is")
}

/// Checks the checksum of all other columns in a row of [`SELECTED`].
pub(super) fn check_state(row: &Row<'_>) -> Result<()> {
    let sid = Fields::default().value(row.get_ref(IDENTITY_AT)?);
    let sum = sum_of(row, sid, STATE_AT..STATE_SUM_AT)?;
    check(row, sum, STATE_SUM_AT, "its fields")
}

/// Computes the two checksums that a row of [`SELECTED`] should have. `note` is the checksum of the
/// session's notes, if it has any.
pub(super) fn sums(row: &Row<'_>, note: Option<i64>) -> Result<(i64, i64)> {
    let identity = sum_of(row, Fields::default(), IDENTITY_AT..IDENTITY_SUM_AT)?;
    let mut state = Fields::default().value(row.get_ref(IDENTITY_AT)?);
    for column in STATE_AT..STATE_SUM_AT - 1 {
        state = add(state, column, row.get_ref(column)?);
    }
    Ok((i64::from(identity), i64::from(state.number(note).sum())))
}

fn sum_of(row: &Row<'_>, fields: Fields, columns: std::ops::Range<usize>) -> Result<u32> {
    let mut fields = fields;
    for column in columns {
        fields = add(fields, column, row.get_ref(column)?);
    }
    Ok(fields.sum())
}

/// Adds a column to a checksum. Skips feed columns that are NULL.
fn add(fields: Fields, column: usize, value: ValueRef<'_>) -> Fields {
    let is_unwritten = value == ValueRef::Null && (WRITTEN_AT..MORE_AT).contains(&column);
    if is_unwritten { fields } else { fields.value(value) }
}

fn check(row: &Row<'_>, sum: u32, at: usize, what: &str) -> Result<()> {
    if row.get_ref(at)? == ValueRef::Integer(i64::from(sum)) {
        return Ok(());
    }
    let message = format!("{what} do not fit their checksum");
    Err(Fault::damaged(location(row), &message))
}

/// Returns the text with which error messages name the session's row.
pub(super) fn location(row: &Row<'_>) -> String {
    match row.get::<_, i64>(IDENTITY_AT) {
        Ok(sid) => format!("session row {sid}"),
        Err(_) => "session row".into(),
    }
}

fn identity_sum(identity: &[ValueRef<'_>], session: &Session) -> i64 {
    let parent = session.header.parent_id.as_ref().map(SessionId::as_str);
    let kin = [text(session.header.root_id.as_str()), some_text(parent)];
    let fields = identity.iter().chain(&kin).fold(Fields::default(), |fields, v| fields.value(*v));
    i64::from(fields.sum())
}

fn state_sum(sid: i64, state: &[ValueRef<'_>]) -> i64 {
    let sid = Fields::default().number(Some(sid));
    let sum = (STATE_AT..).zip(state).fold(sid, |sum, (column, value)| add(sum, column, *value));
    i64::from(sum.sum())
}

fn identity<'s>(session: &'s Session, folded: &'s str) -> [ValueRef<'s>; IDENTITY.len()] {
    let Session { sid, root, parent, header, .. } = session;
    let [stored, index, turns, bytes, open] = stored_counts(&header.inherited).map(number);
    let (id, folded) = (text(header.id.as_str()), text(folded));
    let (kind, depth) = (number(kind_code(header.kind)), count(header.depth));
    let (sid, parent, root) = (number(*sid), some(*parent), number(*root));
    [sid, id, folded, parent, root, kind, depth, stored, index, turns, bytes, open]
}

fn permissions(session: &Session) -> Result<Option<Data>> {
    let permissions = session.header.permissions.as_ref().map(Data::of).transpose();
    permissions.map_err(|error| Fault::damaged("permissions", &error))
}

#[rustfmt::skip] // The values have the layout of `STATE`.
fn state<'s>(
    session: &'s Session,
    permissions: Option<&'s Data>,
) -> [ValueRef<'s>; STATE.len()] {
    let Session { header, fresh_until, inheritable_to: retained_to, note_sum, written, .. } = session;
    let [made, appended, changed, until] = written.columns().map(some);
    let [stored, index, turns, bytes, open] = stored_counts(&header.counts).map(number);
    let (lease, cut, usage) = (header.lease.as_ref(), header.cut.as_ref(), &header.usage);
    let (strategy, tool_calls) = choice_codes(header);
    let copy = header.copy_of.as_ref();
    [
        text(header.label.as_str()), some_text(header.title.as_deref()),
        stored, index, turns, bytes, open, count(header.own_events), count(header.own_bytes),
        number(header.created.as_microsecond()), number(header.updated.as_microsecond()),
        some_text(lease.map(|lease| &*lease.owner)),
        some(lease.map(|lease| lease.expires.as_microsecond())),
        some(lease.map(|lease| lease.began_at)),
        number(i64::from(header.detached)),
        some(header.deleted.map(|tombstone| tombstone.deleted.as_microsecond())),
        some(strategy), some(tool_calls),
        some(cut.and_then(|cut| cut.seq).map(signed)), some(cut.map(|cut| signed(cut.index))),
        some(cut.and_then(|cut| cut.message).map(signed)),
        some(cut.and_then(|cut| cut.turn).map(signed)),
        some_text(cut.and_then(|cut| cut.event_id.as_ref()).map(EventId::as_str)),
        some(cut.map(|cut| signed(cut.inheritable))),
        count(usage.input), count(usage.output), count(usage.cached), ValueRef::Real(usage.cost),
        text(header.workspace.as_str()), some_text(header.principal.as_deref()),
        some_text(permissions.map(Data::get)), some_text(header.dialect.as_deref()),
        some_text(header.leaf.as_ref().map(SessionId::as_str)), some_text(header.source.as_deref()),
        some_text(copy.map(|copy| copy.session_id.as_str())),
        some(copy.map(|copy| signed(copy.index))),
        made, appended, changed, until,
        number(fresh_until.as_microsecond()), some(retained_to.map(signed)),
        some(note_sum.map(i64::from)),
    ]
}

fn number<'s>(number: i64) -> ValueRef<'s> {
    ValueRef::Integer(number)
}

fn count<'s>(count: u64) -> ValueRef<'s> {
    ValueRef::Integer(signed(count))
}

fn some<'s>(number: Option<i64>) -> ValueRef<'s> {
    number.map_or(ValueRef::Null, ValueRef::Integer)
}

fn text(text: &str) -> ValueRef<'_> {
    ValueRef::Text(text.as_bytes())
}

fn some_text(some: Option<&str>) -> ValueRef<'_> {
    some.map_or(ValueRef::Null, text)
}
