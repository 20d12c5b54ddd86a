//! The columns of a session's row, and their two checksums: one for the columns that identify the
//! session, one for all others.
//!
//! Reading a child also needs the identifying columns of its ancestors. They have a checksum of
//! their own, so that a damaged title of a parent does not make its children unreadable.

use std::sync::LazyLock;

use forklore_core::{Data, EventId, SessionId};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Row, ToSql};

use super::identity::{IDENTITY, IDENTITY_AT, KIN_AT, Kin, location};
use super::{Session, choice_codes, kind_code};
use crate::crc::Fields;
use crate::fault::{Fault, Result};
use crate::integer::signed;
use crate::row::stored_counts;
use crate::write_tx::WriteTx;

/// The columns of a session's row that can change, and others that do not identify the session.
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

/// The index of the checksum of the identifying columns. Each constant `..._AT` is the index of the
/// first column of a group, counted from 0 among the columns of a query for [`SELECTED`].
const IDENTITY_SUM_AT: usize = KIN_AT + 2;
/// The index of the first column that does not identify the session, among the columns of a query
/// for [`SELECTED`].
pub(super) const STATE_AT: usize = IDENTITY_SUM_AT + 1;
/// The index of the column `deleted`, among the columns of a query for [`SELECTED`].
pub(super) const DELETED_AT: usize = STATE_AT + 15;
/// The index of the column `fresh_until`, among the columns of a query for [`SELECTED`]. It is the
/// first of three columns that belong neither to the session's header nor to the feed (the sequence
/// of changed sessions).
pub(super) const MORE_AT: usize = STATE_AT + STATE.len() - 3;
/// The index of the first of the four feed columns in a row of [`SELECTED`]. Three columns contain
/// the numbers of the transactions that created, last appended to and last changed the session. The
/// fourth contains an upper bound of these numbers. The row's checksum skips a column that is NULL.
/// All four are NULL in a row that was written before the feed existed.
pub(super) const WRITTEN_AT: usize = MORE_AT - 4;
const STATE_SUM_AT: usize = STATE_AT + STATE.len();
/// The index of the column `metadata`, if a query selects it. The column `config` follows.
pub(super) const NOTES_AT: usize = STATE_SUM_AT + 1;

/// The table to name after `FROM` in a query with the columns [`SELECTED`].
pub(super) const TABLES: &str = "session s";

/// SQL expressions for the ids of a session's root and parent. They are subqueries because SQLite
/// prepares two subqueries in fewer steps than two joins.
const KIN: &str = "(SELECT id FROM session WHERE sid = s.root),
    (SELECT id FROM session WHERE sid = s.parent)";

/// The SQL columns that identify a session, with their checksum. They include the ids of its root
/// and parent.
pub(super) static IDENTIFIED: LazyLock<String> = LazyLock::new(|| {
    format!("{}, {KIN}, identity_crc", IDENTITY.map(|column| format!("s.{column}")).join(", "))
});

/// The SQL columns for a session's whole row, and for the ids of its root and parent.
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

/// Inserts a new session into the table `session`, with its checksums.
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

/// Updates columns of a session's row, and its checksum. `sql` is an `UPDATE` with parameters for
/// `values`, then for the columns `crc` and `sid`.
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

/// Checks the checksum of the identifying columns of a session. The row comes from a query for
/// [`IDENTIFIED`] or [`SELECTED`]. The checksum covers `kin`, the ids of root and parent.
pub(super) fn check_identity(row: &Row<'_>, kin: &Kin) -> Result<()> {
    let mut fields = Fields::default();
    for column in IDENTITY_AT..KIN_AT {
        fields = fields.value(row.get_ref(column)?);
    }
    let parent = kin.parent.as_ref().map(SessionId::as_str);
    let sum = fields.value(text(kin.root.as_str())).value(some_text(parent)).sum();
    check(row, sum, IDENTITY_SUM_AT, "the fields that tell who it is")
}

/// Checks the checksum of a session's columns that do not identify it. The row comes from a query
/// for [`SELECTED`].
pub(super) fn check_state(row: &Row<'_>) -> Result<()> {
    let sid = Fields::default().value(row.get_ref(IDENTITY_AT)?);
    let sum = sum_of(row, sid, STATE_AT..STATE_SUM_AT)?;
    check(row, sum, STATE_SUM_AT, "its fields")
}

/// Computes the two checksums that a session's row should have. The row comes from a query for
/// [`SELECTED`]. `note` is the checksum of its `metadata` and `config`, if it has any.
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

/// Adds a column of a session's row to a checksum. Skips a NULL in a feed column (a column that
/// says which transaction wrote the session), because a row that was written before the feed
/// existed has a checksum without these columns.
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
