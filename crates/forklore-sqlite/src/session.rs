//! Reads and writes a session's row, which contains most of the session's header.

mod identity;
mod stored;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use forklore_core::Usage;
use forklore_core::header::CopyOf;
use forklore_core::workspace::Workspace;
use forklore_core::{
    Counts, Cut, Data, Header, Lease, SessionId, SessionKind, Strategy, Tombstone, ToolCallPolicy,
};
use forklore_store::Error;
use forklore_store::feed::Stamp;
use jiff::Timestamp;
use rusqlite::types::{FromSql, ValueRef};
use rusqlite::{Connection, Row, ToSql};

use self::identity::{IDENTITY_AT, Kin, location};
use self::stored::{
    DELETED_AT, IDENTIFIED, MORE_AT, NOTES_AT, SELECTED, STATE_AT, TABLES, WRITTEN_AT,
    check_identity, check_state,
};
use crate::crc::Fields;
use crate::fault::{Fault, Result};
use crate::feed::Written;
use crate::integer::{timestamp, unsigned};
use crate::row::counts;
use crate::segment::Segment;
use crate::write_tx::WriteTx;

pub(crate) use self::identity::{Identity, lost, number_of};
pub(crate) use self::stored::update;

const KINDS: [SessionKind; 3] = [SessionKind::Root, SessionKind::Branch, SessionKind::Delegate];
const STRATEGIES: [Strategy; 2] = [Strategy::ShareV1, Strategy::ReplayV1];
const POLICIES: [ToolCallPolicy; 4] = [
    ToolCallPolicy::Complete,
    ToolCallPolicy::Remove,
    ToolCallPolicy::Error,
    ToolCallPolicy::Verbatim,
];

/// A session as its row in the database stores it.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) sid: Segment,
    pub(crate) root: Segment,
    pub(crate) parent: Option<Segment>,
    /// An upper bound of `updated` in the session's header. It is at most a minute later.
    pub(crate) fresh_until: Timestamp,
    /// `None` unless the session was erased. For an erased session: the end (exclusive) of the
    /// positions in its segment that other sessions still need. A deleted session is in the trash
    /// if this field is `None`.
    pub(crate) inheritable_to: Option<u64>,
    /// The checksum of the session's notes (`metadata` and `config`). `None` if it has no notes.
    pub(crate) note_sum: Option<u32>,
    /// The numbers of the transactions that last wrote to the session. The feed (the sequence of
    /// changed sessions) uses them to find sessions.
    pub(crate) written: Written,
    /// The session's header. Its `metadata` and `config` are `None` unless they were read too, for
    /// example by [`with_notes`].
    pub(crate) header: Header,
}

/// Returns an SQL query for session rows with all columns of a header. `rest` is the part of the
/// query after the tables, for example from `WHERE` on. In `rest`, `s` is the alias of the
/// session's row.
pub(crate) fn select(rest: &str) -> String {
    format!(
        "SELECT {}, note.metadata, note.config FROM {TABLES}
         LEFT JOIN session_note note ON note.sid = s.sid {rest}",
        *SELECTED
    )
}

/// Reads the identifying columns of the session with the number `sid`. If they are damaged, reads
/// them again by the session's id, like [`numbered_or_by_id`].
pub(crate) fn identity(conn: &Connection, sid: Segment) -> Result<Identity> {
    static BY_SID: LazyLock<String> =
        LazyLock::new(|| format!("SELECT {} FROM {TABLES} WHERE s.sid = ?", *IDENTIFIED));
    // The `+` prevents SQLite from finding the row by its number. `folded` therefore comes from an
    // index.
    static BY_ID: LazyLock<String> = LazyLock::new(|| {
        format!("SELECT {} FROM {TABLES} WHERE s.folded = ? AND +s.sid = ?", *IDENTIFIED)
    });
    let fault = match identity_in(conn, &BY_SID, &[&sid]) {
        Err(fault) if fault.is_of_one_row() => fault,
        Ok(Some(identity)) => return Ok(identity),
        Ok(None) => return Err(Fault::damaged(format!("session row {sid}"), "it is missing")),
        Err(fault) => return Err(fault),
    };
    let by_id = stored_id(conn, sid)
        .and_then(|id| identity_in(conn, &BY_ID, &[&id.fold(), &sid]).ok().flatten());
    by_id.ok_or(fault)
}

fn identity_in(conn: &Connection, sql: &str, values: &[&dyn ToSql]) -> Result<Option<Identity>> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    let Some(row) = rows.next()? else { return Ok(None) };
    check_identity(row, &Kin::of(conn, row)?)?;
    let mut cells = Cells { row, at: IDENTITY_AT + 1 };
    let (id, _folded, parent) = (cells.required()?, cells.next::<String>()?, cells.next()?);
    cells.at = IDENTITY_AT + 7;
    Ok(Some(Identity { id, parent, inherited: cells.count()? }))
}

/// Reads the session with this id, deleted or not.
pub(crate) fn any(conn: &Connection, id: &SessionId) -> Result<Session> {
    static SQL: LazyLock<String> =
        LazyLock::new(|| format!("SELECT {} FROM {TABLES} WHERE s.folded = ?", *SELECTED));
    one(conn, &SQL, id, false)
}

/// Reads the session with this id, deleted or not, with its notes: `metadata` and `config`.
pub(crate) fn with_notes(conn: &Connection, id: &SessionId) -> Result<Session> {
    static SQL: LazyLock<String> = LazyLock::new(|| select("WHERE s.folded = ?"));
    one(conn, &SQL, id, true)
}

/// Reads the session with this number, deleted or not, with its notes: `metadata` and `config`.
pub(crate) fn numbered(conn: &Connection, sid: Segment) -> Result<Session> {
    static SQL: LazyLock<String> = LazyLock::new(|| select("WHERE s.sid = ?"));
    let mut statement = conn.prepare_cached(&SQL)?;
    let mut rows = statement.query([sid])?;
    let session = rows.next()?.map(|row| read(conn, row, true)).transpose()?;
    session.ok_or_else(|| Fault::damaged(format!("session row {sid}"), "it is missing"))
}

/// Reads the session with the number `sid` like [`numbered`]. If its row is damaged, reads it again
/// by its id. That read takes the case-folded id from an index, which may contain an undamaged
/// copy.
pub(crate) fn numbered_or_by_id(conn: &Connection, sid: Segment) -> Result<Session> {
    let fault = match numbered(conn, sid) {
        Err(fault) if fault.is_of_one_row() => fault,
        done => return done,
    };
    let by_id = stored_id(conn, sid).and_then(|id| with_notes(conn, &id).ok());
    by_id.filter(|session| session.sid == sid).ok_or(fault)
}

/// Reads only the id in a session's row, and checks no checksum. Returns `None` if it is not a
/// valid id.
fn stored_id(conn: &Connection, sid: Segment) -> Option<SessionId> {
    let mut statement = conn.prepare_cached("SELECT id FROM session WHERE sid = ?").ok()?;
    statement.query_row([sid], |row| row.get::<_, String>(0)).ok()?.parse().ok()
}

/// Reads the session with the number `sid`, deleted or not, without its `metadata` and `config`.
pub(crate) fn bare(conn: &Connection, sid: Segment) -> Result<Session> {
    static SQL: LazyLock<String> =
        LazyLock::new(|| format!("SELECT {} FROM {TABLES} WHERE s.sid = ?", *SELECTED));
    let mut statement = conn.prepare_cached(&SQL)?;
    let mut rows = statement.query([sid])?;
    let session = rows.next()?.map(|row| read(conn, row, false)).transpose()?;
    session.ok_or_else(|| Fault::damaged(format!("session row {sid}"), "it is missing"))
}

/// Returns the lowest session number that is greater than `last`, or `None` if there is none.
pub(crate) fn next(conn: &Connection, last: Segment) -> Result<Option<Segment>> {
    let sql = "SELECT sid FROM session WHERE sid > ? ORDER BY sid LIMIT 1";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([last])?;
    Ok(rows.next()?.map(|row| row.get(0)).transpose()?)
}

/// Reads the session with this id. Fails if it is deleted.
pub(crate) fn living(conn: &Connection, id: &SessionId) -> Result<Session> {
    let session = any(conn, id)?;
    if session.header.deleted.is_some() {
        return Err(Error::Deleted(id.clone()).into());
    }
    Ok(session)
}

/// Reads the session with this id, whether it is living or in the trash. Fails if it was erased.
pub(crate) fn unerased(conn: &Connection, id: &SessionId) -> Result<Session> {
    let session = any(conn, id)?;
    if session.header.is_erased() {
        return Err(Error::Deleted(id.clone()).into());
    }
    Ok(session)
}

fn one(conn: &Connection, sql: &str, id: &SessionId, notes: bool) -> Result<Session> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([id.fold()])?;
    let session = rows.next()?.map(|row| {
        read(conn, row, notes).map_err(|fault| deleted_anyway(row, id, fault.of(id, None)))
    });
    session
        .transpose()?
        .filter(|session| session.header.id == *id)
        .ok_or_else(|| Error::NotFound(id.clone()).into())
}

/// Returns the fault to report if a read of the row of the session `id` failed with `fault`. If the
/// session was deleted and an ancestor is lost, returns `Deleted`: the first event of a deleted
/// session is gone, so nothing names its lost ancestor any more. Otherwise returns `fault`.
fn deleted_anyway(row: &Row<'_>, id: &SessionId, fault: Fault) -> Fault {
    let lost = matches!(fault, Fault::Refused(Error::MissingAncestor { .. }));
    let deleted = || {
        check_state(row).is_ok() && row.get(DELETED_AT).is_ok_and(|at: Option<i64>| at.is_some())
    };
    if lost && deleted() { Error::Deleted(id.clone()).into() } else { fault }
}

/// Reads the columns of a session's row one after the other, like an iterator.
struct Cells<'r, 's> {
    row: &'r Row<'s>,
    at: usize,
}

impl Cells<'_, '_> {
    fn next<T: FromSql>(&mut self) -> Result<T> {
        self.at += 1;
        Ok(self.row.get(self.at - 1)?)
    }

    fn count(&mut self) -> Result<u64> {
        unsigned(self.next()?)
    }

    fn some_count(&mut self) -> Result<Option<u64>> {
        self.next::<Option<i64>>()?.map(unsigned).transpose()
    }

    fn counts(&mut self) -> Result<Counts> {
        self.at += 5;
        counts(self.row, self.at - 5)
    }

    fn time(&mut self) -> Result<Timestamp> {
        timestamp(self.next()?)
    }

    fn parsed<T: std::str::FromStr<Err: ToString>>(&mut self) -> Result<Option<T>> {
        let text: Option<String> = self.next()?;
        let parsed = text.map(|text| text.parse::<T>().map_err(|error| self.damaged(&error)));
        parsed.transpose()
    }

    fn required<T: std::str::FromStr<Err: ToString>>(&mut self) -> Result<T> {
        self.parsed()?.ok_or_else(|| self.damaged("a name is missing"))
    }

    fn choice<T: Copy>(&mut self, all: &[T]) -> Result<Option<T>> {
        let code: Option<i64> = self.next()?;
        let choice = code.map(|code| {
            let found = usize::try_from(code).ok().and_then(|code| all.get(code));
            found.copied().ok_or_else(|| self.damaged(&format!("{code} stands for nothing")))
        });
        choice.transpose()
    }

    fn damaged(&self, message: &(impl ToString + ?Sized)) -> Fault {
        Fault::damaged(location(self.row), message)
    }
}

/// Checks and reads a session's row that a query of [`select`] returned. If `notes` is false, the
/// row may lack the columns `metadata` and `config`.
pub(crate) fn read(conn: &Connection, row: &Row<'_>, notes: bool) -> Result<Session> {
    let kin = Kin::of(conn, row)?;
    check_identity(row, &kin).map_err(|fault| match agreed_id(row) {
        Some(id) => fault.of(&id, None),
        None => fault,
    })?;
    let mut cells = Cells { row, at: IDENTITY_AT };
    let (sid, id): (Segment, SessionId) = (cells.next()?, cells.required()?);
    let read = || {
        check_state(row)?;
        let header = header(row, id.clone(), kin)?;
        let mut more = Cells { row, at: MORE_AT };
        let mut cells = Cells { row, at: IDENTITY_AT + 3 };
        let mut session = Session {
            sid,
            parent: cells.next()?,
            root: cells.next()?,
            fresh_until: more.time()?,
            inheritable_to: more.some_count()?,
            note_sum: more.next()?,
            written: written(row)?,
            header,
        };
        if let Some(tombstone) = &mut session.header.deleted {
            tombstone.restorable = session.inheritable_to.is_none();
        }
        if notes {
            take_notes(row, &mut session)?;
        }
        Ok(session)
    };
    read().map_err(|fault: Fault| fault.of(&id, None))
}

/// Returns the id of a session whose row is damaged, for use in the error message. A row contains
/// the id twice: as it is (`id`) and case-folded (`folded`). Returns `None` unless the two agree.
fn agreed_id(row: &Row<'_>) -> Option<SessionId> {
    let (id, folded): (String, String) =
        (row.get(IDENTITY_AT + 1).ok()?, row.get(IDENTITY_AT + 2).ok()?);
    id.parse().ok().filter(|id: &SessionId| id.fold() == folded)
}

fn header(row: &Row<'_>, id: SessionId, kin: Kin) -> Result<Header> {
    let mut identity = Cells { row, at: IDENTITY_AT + 5 };
    let cells = &mut Cells { row, at: STATE_AT };
    // Rust evaluates the fields in the order written, which must be the order of the columns.
    Ok(Header {
        id,
        root_id: kin.root,
        parent_id: kin.parent,
        kind: identity.choice(&KINDS)?.ok_or_else(|| cells.damaged("its kind is missing"))?,
        depth: identity.count()?,
        inherited: identity.counts()?,
        label: cells.required()?,
        title: cells.next()?,
        counts: cells.counts()?,
        own_events: cells.count()?,
        own_bytes: cells.count()?,
        created: cells.time()?,
        updated: cells.time()?,
        lease: lease(cells)?,
        detached: cells.next()?,
        deleted: deleted(cells)?,
        strategy: cells.choice(&STRATEGIES)?,
        tool_calls: cells.choice(&POLICIES)?,
        cut: cut(cells)?,
        usage: Usage {
            input: cells.count()?,
            output: cells.count()?,
            cached: cells.count()?,
            cost: cells.next()?,
        },
        workspace: Workspace::new(&cells.next::<String>()?),
        principal: cells.next()?,
        permissions: permissions(cells)?,
        dialect: cells.next()?,
        leaf: cells.parsed()?,
        source: cells.next()?,
        copy_of: copy_of(cells)?,
        metadata: None,
        config: None,
    })
}

/// Reads and checks `metadata` and `config` of a session. They are in a separate row, the session's
/// notes.
fn take_notes(row: &Row<'_>, session: &mut Session) -> Result<()> {
    let texts = [row.get_ref(NOTES_AT)?, row.get_ref(NOTES_AT + 1)?];
    let none = texts == [ValueRef::Null, ValueRef::Null];
    let sum = (!none).then(|| note_sum(session.sid, texts));
    if sum != session.note_sum {
        let cut = format!("session_note row {}", session.sid);
        return Err(Fault::damaged(cut, "it does not fit its checksum"));
    }
    let mut cells = Cells { row, at: NOTES_AT };
    (session.header.metadata, session.header.config) = (note(&mut cells)?, note(&mut cells)?);
    Ok(())
}

/// Computes the three checksums that a session's row should have. The row comes from a query of
/// [`select`]. The first covers the identifying columns, the second all others, the third
/// `metadata` and `config`.
pub(crate) fn sums(row: &Row<'_>) -> Result<(i64, i64, Option<i64>)> {
    let texts = [row.get_ref(NOTES_AT)?, row.get_ref(NOTES_AT + 1)?];
    let none = texts == [ValueRef::Null, ValueRef::Null];
    let note =
        (!none).then(|| i64::from(note_sum(row.get(IDENTITY_AT).unwrap_or_default(), texts)));
    let (identity, state) = stored::sums(row, note)?;
    Ok((identity, state, note))
}

/// Computes the checksum of a session's notes, i.e. of its `metadata` and `config`.
fn note_sum(sid: Segment, [metadata, config]: [ValueRef<'_>; 2]) -> u32 {
    Fields::default().number(Some(sid)).value(metadata).value(config).sum()
}

/// Inserts the row of a new session. Also inserts a row for its `metadata` and `config` if it has
/// any.
pub(crate) fn insert(tx: &WriteTx<'_>, session: &mut Session) -> Result<()> {
    let Header { metadata, config, .. } = &session.header;
    let texts = [metadata, config].map(|note| note.as_ref().map(Data::get));
    if texts != [None, None] {
        let values = texts.map(|text| text.map_or(ValueRef::Null, ValueRef::from));
        session.note_sum = Some(note_sum(session.sid, values));
        tx.write(
            "INSERT INTO session_note (sid, metadata, config) VALUES (?, ?, ?)",
            &[&session.sid, &texts[0], &texts[1]],
        )?;
    }
    stored::insert(tx, session)
}

fn written(row: &Row<'_>) -> Result<Written> {
    let mut cells = Cells { row, at: WRITTEN_AT };
    let mut number = || cells.some_count();
    let [created, appended, changed] = [number()?, number()?, number()?];
    let until = number()?;
    let [created, appended, changed] = [created, appended, changed].map(Option::unwrap_or_default);
    Ok(Written { stamp: Stamp { created, appended, changed }, until })
}

fn lease(cells: &mut Cells<'_, '_>) -> Result<Option<Lease>> {
    let owner: Option<String> = cells.next()?;
    let (expires, began_at): (Option<i64>, Option<i64>) = (cells.next()?, cells.next()?);
    let lease = owner.zip(expires).zip(began_at);
    let lease = lease.map(|((owner, expires), began_at)| {
        Ok(Lease { owner, expires: timestamp(expires)?, began_at })
    });
    lease.transpose()
}

/// Reads when the session was deleted. Another column tells whether it is in the trash.
fn deleted(cells: &mut Cells<'_, '_>) -> Result<Option<Tombstone>> {
    let deleted: Option<i64> = cells.next()?;
    let tombstone = |micros| Ok(Tombstone { deleted: timestamp(micros)?, restorable: false });
    deleted.map(tombstone).transpose()
}

fn cut(cells: &mut Cells<'_, '_>) -> Result<Option<Cut>> {
    let (seq, index) = (cells.some_count()?, cells.some_count()?);
    let (message, turn) = (cells.some_count()?, cells.some_count()?);
    let (event_id, stored) = (cells.parsed()?, cells.some_count()?);
    let cut = index.zip(stored);
    Ok(cut.map(|(index, stored)| Cut { seq, index, message, turn, event_id, inheritable: stored }))
}

fn permissions(cells: &mut Cells<'_, '_>) -> Result<Option<BTreeSet<String>>> {
    let text: Option<String> = cells.next()?;
    text.map(|text| serde_json::from_str(&text).map_err(|error| cells.damaged(&error))).transpose()
}

fn note(cells: &mut Cells<'_, '_>) -> Result<Option<Data>> {
    let text: Option<String> = cells.next()?;
    text.map(|text| Data::parse(&text).map_err(|error| cells.damaged(&error))).transpose()
}

fn copy_of(cells: &mut Cells<'_, '_>) -> Result<Option<CopyOf>> {
    let (session, index) = (cells.parsed()?, cells.some_count()?);
    Ok(session.zip(index).map(|(session_id, index)| CopyOf { session_id, index }))
}

fn code<T: PartialEq>(all: &[T], one: &T) -> Option<i64> {
    all.iter().position(|other| other == one).and_then(|at| i64::try_from(at).ok())
}

/// Returns the number that a session's row stores for this kind of session.
fn kind_code(kind: SessionKind) -> i64 {
    code(&KINDS, &kind).unwrap_or_default()
}

/// Returns the numbers that a session's row stores for two properties of its fork: the strategy
/// (how inherited events are stored) and the policy for open tool calls. `None` for a root.
fn choice_codes(header: &Header) -> (Option<i64>, Option<i64>) {
    let strategy = header.strategy.and_then(|strategy| code(&STRATEGIES, &strategy));
    (strategy, header.tool_calls.and_then(|policy| code(&POLICIES, &policy)))
}
