//! Sends what a transaction has written so far.

use std::collections::BTreeMap;

use forklore_core::{Data, SessionId, SessionKind};
use tokio_postgres::types::Type;

use super::{Attempt, Mark};
use crate::connection::{Statement, numbers, text, texts, truths};
use crate::event::Rows;
use crate::fault::Result;
use crate::number::{micros, signed};
use crate::session::{Session, state_of, workspace_key};

/// The number of the present transaction, by which the feed is ordered. On a database that is
/// distributed over several nodes, the numbers of their transactions cannot be compared.
pub(crate) const TRANSACTION: &str = "pg_current_xact_id()::text::int8";

/// What a transaction has written and not yet sent.
#[derive(Default)]
pub(super) struct Outbox {
    /// The ids of new sessions.
    names: Names,
    /// The events, by family.
    events: BTreeMap<String, Rows>,
    sessions: Columns,
}

impl Outbox {
    /// Returns the statements that write everything.
    pub(super) fn statements<'a>(&'a self, tenant: &'a &str) -> Vec<Statement<'a>> {
        let names = (!self.names.ids.is_empty()).then(|| self.names.statement(tenant));
        let events = self.events.iter().map(|(family, rows)| rows.statement(tenant, family));
        let has_sessions = !self.sessions.workspaces.is_empty();
        let sessions = has_sessions.then(|| self.sessions.statement(tenant));
        names.into_iter().chain(events).chain(sessions).collect()
    }
}

impl Attempt<'_> {
    /// Takes the id of a new session. If another transaction takes it too, the later one of the two
    /// fails when it sends it, and is begun anew.
    pub(super) fn take_id(&mut self, root: &SessionId, id: &SessionId) {
        self.names.folded.push(id.fold());
        self.names.ids.push(id.as_str().to_owned());
        self.names.families.push(root.as_str().to_owned());
    }

    /// Returns everything that is not yet sent.
    pub(super) fn take(&mut self) -> Result<Outbox> {
        let mut sessions = Columns::default();
        for (id, marks) in &std::mem::take(&mut self.dirty) {
            if let Some(session) = self.sessions.get(id.as_str()) {
                self.sent += 1;
                sessions.add(session, self.sent)?;
                sessions.mark(|mark| marks.contains(&mark));
            }
        }
        let (names, events) = (std::mem::take(&mut self.names), std::mem::take(&mut self.events));
        Ok(Outbox { names, events, sessions })
    }

    /// Sends all sessions and events. Afterwards, queries see what the transaction wrote.
    pub(super) fn flush(&mut self) -> Result<()> {
        let waiting = self.take()?;
        self.send(&waiting)
    }

    /// Sends the events.
    pub(super) fn flush_events(&mut self) -> Result<()> {
        let events = std::mem::take(&mut self.events);
        self.send(&Outbox { events, ..Outbox::default() })
    }

    fn send(&self, waiting: &Outbox) -> Result<()> {
        let statements = waiting.statements(&self.database.tenant);
        if !statements.is_empty() {
            self.database.connection.all(&statements)?;
        }
        Ok(())
    }
}

/// Ids of new sessions, as columns.
#[derive(Default)]
pub(super) struct Names {
    folded: Vec<String>,
    ids: Vec<String>,
    families: Vec<String>,
}

impl Names {
    fn statement<'a>(&'a self, tenant: &'a &str) -> Statement<'a> {
        let sql = "INSERT INTO forklore.name (tenant, folded, id, family)
             SELECT $1, * FROM unnest($2::text[], $3::text[], $4::text[])";
        let values =
            vec![text(tenant), texts(&self.folded), texts(&self.ids), texts(&self.families)];
        Statement::new(sql, values)
    }
}

/// Rows of sessions as columns.
#[derive(Default)]
struct Columns {
    /// Family, id, header, metadata, config, parent, label and base.
    texts: [Vec<Option<String>>; 8],
    workspaces: Vec<Vec<u8>>,
    /// Checksum, update, state, head, three counts of the inherited part, and the number in this
    /// transaction.
    numbers: [Vec<i64>; 8],
    /// Whether the base's own copy is meant, whether the session has its own copy, and whether it
    /// needs its parent; whether it was created, appended to and changed.
    truths: [Vec<bool>; 6],
}

impl Columns {
    fn add(&mut self, session: &Session, number: i64) -> Result<()> {
        let (header, fields) = (&session.header, session.fields()?);
        let base = session.origin.base.as_ref();
        let data = |data: &Option<Data>| data.as_ref().map(|data| data.get().to_owned());
        let sum = session.sum(&fields);
        let texts = [
            Some(session.family().to_owned()),
            Some(session.id().to_owned()),
            Some(fields),
            data(&header.metadata),
            data(&header.config),
            header.parent_id.as_ref().map(ToString::to_string),
            Some(header.label.to_string()),
            base.map(|(id, _)| id.clone()),
        ];
        let inherited = &header.inherited;
        let numbers = [
            sum,
            micros(header.updated),
            i64::from(state_of(header)),
            header.head_seq(),
            signed(inherited.inheritable),
            signed(inherited.index),
            signed(inherited.turns),
            number,
        ];
        self.texts.iter_mut().zip(texts).for_each(|(column, text)| column.push(text));
        self.numbers.iter_mut().zip(numbers).for_each(|(column, number)| column.push(number));
        self.workspaces.push(workspace_key(header.workspace.as_str()));
        let [whole, owned, builds, ..] = &mut self.truths;
        whole.push(base.is_some_and(|(_, whole)| *whole));
        owned.push(session.origin.owned);
        builds.push(header.kind == SessionKind::Branch && !header.detached);
        Ok(())
    }

    fn mark(&mut self, has: impl Fn(Mark) -> bool) {
        let [_, _, _, created, appended, changed] = &mut self.truths;
        created.push(has(Mark::Created));
        appended.push(has(Mark::Appended));
        changed.push(has(Mark::Changed));
    }

    fn statement<'a>(&'a self, tenant: &'a &str) -> Statement<'a> {
        let sql = format!(
            "INSERT INTO forklore.session AS s (tenant, family, id, header, metadata, config, parent,
                 label, base, workspace, crc, updated, state, head, inherited, inherited_index,
                 inherited_turns, written_as, base_whole, owned, builds, created_in, appended_in,
                 changed_in, written_in)
             SELECT $1, n.family, n.id, n.header, n.metadata, n.config, n.parent, n.label, n.base,
                 n.workspace, n.crc, n.updated, n.state, n.head, n.inherited, n.inherited_index,
                 n.inherited_turns, n.written_as, n.base_whole, n.owned, n.builds,
                 CASE WHEN n.created THEN {TRANSACTION} ELSE 0 END,
                 CASE WHEN n.appended THEN {TRANSACTION} ELSE 0 END,
                 CASE WHEN n.changed THEN {TRANSACTION} ELSE 0 END, {TRANSACTION}
             FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
                 $8::text[], $9::text[], $10::bytea[], $11::int8[], $12::int8[], $13::int8[],
                 $14::int8[], $15::int8[], $16::int8[], $17::int8[], $18::int8[], $19::bool[],
                 $20::bool[], $21::bool[], $22::bool[], $23::bool[], $24::bool[])
             AS n (family, id, header, metadata, config, parent, label, base, workspace, crc, updated,
                 state, head, inherited, inherited_index, inherited_turns, written_as, base_whole, owned,
                 builds, created, appended, changed)
             ON CONFLICT (tenant, family, id) DO UPDATE SET (header, metadata, config, label, base,
                 crc, updated, state, head, written_as, base_whole, owned, builds, created_in, appended_in,
                 changed_in, written_in) = (excluded.header, excluded.metadata, excluded.config,
                 excluded.label, excluded.base, excluded.crc, excluded.updated, excluded.state,
                 excluded.head,
                 excluded.written_as, excluded.base_whole, excluded.owned, excluded.builds,
                 greatest(s.created_in, excluded.created_in),
                 greatest(s.appended_in, excluded.appended_in),
                 greatest(s.changed_in, excluded.changed_in), excluded.written_in)"
        );
        let mut values = vec![text(tenant)];
        values.extend(self.texts.iter().map(texts));
        values.push((&self.workspaces, Type::BYTEA_ARRAY));
        values.extend(self.numbers.iter().map(numbers));
        values.extend(self.truths.iter().map(truths));
        Statement::new(sql, values)
    }
}
