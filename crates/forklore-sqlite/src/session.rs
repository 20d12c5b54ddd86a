//! A session's row and the header it stands for.

use std::collections::BTreeSet;

use forklore_model::header::{CopyOf, Usage};
use forklore_model::workspace::Workspace;
use forklore_model::{
    Counts, Cut, Data, Header, Lease, SessionId, SessionKind, Strategy, Tombstone, ToolCallPolicy,
};
use forklore_store::Error;
use jiff::Timestamp;
use rusqlite::types::FromSql;
use rusqlite::{Connection, Row};

use crate::fault::{Fault, Result};
use crate::number::{timestamp, unsigned};
use crate::row::counts;
use crate::segment::Segment;

const KINDS: [SessionKind; 3] = [SessionKind::Root, SessionKind::Branch, SessionKind::Delegate];
const STRATEGIES: [Strategy; 2] = [Strategy::ShareV1, Strategy::ReplayV1];
const POLICIES: [ToolCallPolicy; 4] = [
    ToolCallPolicy::Complete,
    ToolCallPolicy::Remove,
    ToolCallPolicy::Error,
    ToolCallPolicy::Verbatim,
];

/// A session as a transaction sees it.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) sid: Segment,
    pub(crate) root: Segment,
    pub(crate) parent: Option<Segment>,
    /// No earlier than the header's `updated`, at most a minute later.
    pub(crate) fresh_until: Timestamp,
    /// Its `metadata` and `config` only where [`with_notes`] read it.
    pub(crate) header: Header,
}

const COLUMNS: &str = "s.sid, s.root, s.parent, s.fresh_until,
    s.id, root.id, parent.id, s.kind, s.label, s.depth,
    s.kept, s.idx, s.turns, s.bytes, s.open, s.own_events, s.own_bytes,
    s.inherited_kept, s.inherited_index, s.inherited_turns, s.inherited_bytes, s.inherited_open,
    s.created, s.updated, s.lease_owner, s.lease_expires, s.lease_began, s.detached, s.deleted,
    s.strategy, s.tool_calls, s.cut_seq, s.cut_index, s.cut_message, s.cut_turn, s.cut_event,
    s.cut_kept, s.usage_input, s.usage_output, s.usage_cached, s.usage_cost, s.workspace, s.title,
    s.principal, s.permissions, s.dialect, s.leaf, s.source, s.copy_of, s.copy_index";

const TABLES: &str = "session s LEFT JOIN session root ON root.sid = s.root
    LEFT JOIN session parent ON parent.sid = s.parent";

/// A query of whole headers; `rest` begins behind the tables and names the session's row `s`.
pub(crate) fn select(rest: &str) -> String {
    format!(
        "SELECT {COLUMNS}, note.metadata, note.config FROM {TABLES}
         LEFT JOIN session_note note ON note.sid = s.sid {rest}"
    )
}

/// The session of this id, deleted or not.
pub(crate) fn any(conn: &Connection, id: &SessionId) -> Result<Session> {
    let sql = format!("SELECT {COLUMNS}, NULL, NULL FROM {TABLES} WHERE s.folded = ?");
    one(conn, &sql, id)
}

/// The same with the application's notes.
pub(crate) fn with_notes(conn: &Connection, id: &SessionId) -> Result<Session> {
    one(conn, &select("WHERE s.folded = ?"), id)
}

/// The living session of this id.
pub(crate) fn living(conn: &Connection, id: &SessionId) -> Result<Session> {
    let session = any(conn, id)?;
    if session.header.deleted.is_some() {
        return Err(Error::Deleted(id.clone()).into());
    }
    Ok(session)
}

fn one(conn: &Connection, sql: &str, id: &SessionId) -> Result<Session> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([id.fold()])?;
    let session = rows.next()?.map(|row| read(row).map_err(|fault| fault.of(id, None)));
    session
        .transpose()?
        .filter(|session| session.header.id == *id)
        .ok_or_else(|| Error::NotFound(id.clone()).into())
}

/// Takes the columns in their order.
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
        let parsed =
            text.map(|text| text.parse::<T>().map_err(|error| damaged(&error.to_string())));
        parsed.transpose()
    }

    fn required<T: std::str::FromStr<Err: ToString>>(&mut self) -> Result<T> {
        self.parsed()?.ok_or_else(|| damaged("a name is missing"))
    }

    fn choice<T: Copy>(&mut self, all: &[T]) -> Result<Option<T>> {
        let code: Option<i64> = self.next()?;
        let choice = code.map(|code| {
            let found = usize::try_from(code).ok().and_then(|code| all.get(code));
            found.copied().ok_or_else(|| damaged(&format!("{code} stands for nothing")))
        });
        choice.transpose()
    }
}

fn damaged(message: &(impl ToString + ?Sized)) -> Fault {
    Fault::damaged("session row", message)
}

/// Reads a row of [`select`].
pub(crate) fn read(row: &Row<'_>) -> Result<Session> {
    let mut cells = Cells { row, at: 0 };
    let (sid, root, parent) = (cells.next()?, cells.next()?, cells.next()?);
    let fresh_until = cells.time()?;
    let id: SessionId = cells.required()?;
    header(&mut cells, id.clone())
        .map(|header| Session { sid, root, parent, fresh_until, header })
        .map_err(|fault| fault.of(&id, None))
}

fn header(cells: &mut Cells<'_, '_>, id: SessionId) -> Result<Header> {
    // Fields are evaluated in the order written, which is that of the columns.
    let rootless = || {
        let missing = "the row of its family's root".into();
        Fault::Refused(Error::MissingAncestor { session: id.clone(), missing })
    };
    let root_id = cells.parsed()?.ok_or_else(rootless)?;
    Ok(Header {
        id,
        root_id,
        parent_id: cells.parsed()?,
        kind: cells.choice(&KINDS)?.ok_or_else(|| damaged("its kind is missing"))?,
        label: cells.required()?,
        depth: cells.count()?,
        counts: cells.counts()?,
        own_events: cells.count()?,
        own_bytes: cells.count()?,
        inherited: cells.counts()?,
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
        title: cells.next()?,
        principal: cells.next()?,
        permissions: permissions(cells)?,
        dialect: cells.next()?,
        leaf: cells.parsed()?,
        source: cells.next()?,
        copy_of: copy_of(cells)?,
        metadata: note(cells)?,
        config: note(cells)?,
    })
}

fn lease(cells: &mut Cells<'_, '_>) -> Result<Option<Lease>> {
    let owner: Option<String> = cells.next()?;
    let (expires, began_at): (Option<i64>, Option<i64>) = (cells.next()?, cells.next()?);
    let held = owner.zip(expires).zip(began_at);
    let lease = held.map(|((owner, expires), began_at)| {
        Ok(Lease { owner, expires: timestamp(expires)?, began_at })
    });
    lease.transpose()
}

fn deleted(cells: &mut Cells<'_, '_>) -> Result<Option<Tombstone>> {
    let deleted: Option<i64> = cells.next()?;
    deleted.map(|micros| Ok(Tombstone { deleted: timestamp(micros)? })).transpose()
}

fn cut(cells: &mut Cells<'_, '_>) -> Result<Option<Cut>> {
    let (seq, index) = (cells.some_count()?, cells.some_count()?);
    let (message, turn) = (cells.some_count()?, cells.some_count()?);
    let (event_id, kept) = (cells.parsed()?, cells.some_count()?);
    let place = index.zip(kept);
    Ok(place.map(|(index, kept)| Cut { seq, index, message, turn, event_id, kept }))
}

fn permissions(cells: &mut Cells<'_, '_>) -> Result<Option<BTreeSet<String>>> {
    let text: Option<String> = cells.next()?;
    text.map(|text| serde_json::from_str(&text).map_err(|error| damaged(&error))).transpose()
}

fn note(cells: &mut Cells<'_, '_>) -> Result<Option<Data>> {
    let text: Option<String> = cells.next()?;
    text.map(|text| Data::parse(&text).map_err(|error| damaged(&error))).transpose()
}

fn copy_of(cells: &mut Cells<'_, '_>) -> Result<Option<CopyOf>> {
    let (session, index) = (cells.parsed()?, cells.some_count()?);
    Ok(session.zip(index).map(|(session_id, index)| CopyOf { session_id, index }))
}

fn code<T: PartialEq>(all: &[T], one: &T) -> Option<i64> {
    all.iter().position(|other| other == one).and_then(|at| i64::try_from(at).ok())
}

/// The number that stands for a kind of session.
pub(crate) fn kind_code(kind: SessionKind) -> i64 {
    code(&KINDS, &kind).unwrap_or_default()
}

/// The numbers that stand for a strategy and a tool-call policy.
pub(crate) fn choice_codes(header: &Header) -> (Option<i64>, Option<i64>) {
    let strategy = header.strategy.and_then(|strategy| code(&STRATEGIES, &strategy));
    (strategy, header.tool_calls.and_then(|policy| code(&POLICIES, &policy)))
}
