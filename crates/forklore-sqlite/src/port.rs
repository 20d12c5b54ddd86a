//! The port's methods, each one step.

use std::time::Duration;

use forklore_core::{Header, SessionId, SessionKind, Strategy};
use forklore_store::Result;
use forklore_store::port::{
    Append, Appended, Change, Changed, Changes, Children, Collected, Cursor, Filter, Headers,
    Maintenance, NewSession, Packed, Page, Query, Removed, Since, Store, Verification,
};
use jiff::Timestamp;

use crate::store::SqliteStore;
use crate::{
    change, copy, create, detach, feed, list, maintenance, pack, read, remove, session, verify,
};

impl Store for SqliteStore {
    fn create(&self, new: NewSession) -> Result<Header> {
        let doing = "making a session in";
        let copied = new.from.as_ref().filter(|from| {
            from.strategy == Strategy::ReplayV1
                && new.kind == SessionKind::Branch
                && from.cut.kept > 0
        });
        let Some(from) = copied else {
            return self.write(doing, |tx| create::create(tx, &new, None));
        };
        self.read_with("reading", |conn| create::check(conn, &new))?;
        let staged = copy::stage(self, &from.parent, from.cut.kept)?;
        let made = self.write(doing, |tx| create::create(tx, &new, Some(&staged)));
        if made.is_err() {
            staged.abandon(self);
        }
        made
    }

    fn append(&self, session: &SessionId, append: Append) -> Result<Appended> {
        self.append_together(session, append)
    }

    fn header(&self, session: &SessionId) -> Result<Header> {
        self.read_with("reading", |conn| Ok(session::with_notes(conn, session)?.header))
    }

    fn read(&self, session: &SessionId, query: &Query) -> Result<Page> {
        self.read_remembering("reading", |conn, remembered| {
            read::page(conn, session, query, self.known(), remembered)
        })
    }

    fn sessions(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> Result<Headers> {
        let doing = "listing";
        let (sound, faults) =
            self.read_with(doing, |conn| list::list(conn, filter, after, limit))?;
        let damaged = faults.into_iter().map(|fault| fault.about(doing, self.path())).collect();
        Ok(Headers { sound, damaged })
    }

    fn change(&self, session: &SessionId, change: &Change) -> Result<Changed> {
        if *change == Change::Detach {
            return detach::detach(self, session);
        }
        let header = self.write("changing", |tx| change::change(tx, session, change))?;
        Ok(Changed { header, copied_events: 0 })
    }

    fn remove(
        &self,
        sessions: &[SessionId],
        children: Children,
        now: Timestamp,
    ) -> Result<Removed> {
        self.write("deleting from", |tx| remove::remove(tx, sessions, children, now))
    }

    fn changes(&self, since: &Since, limit: usize, wait: Duration) -> Result<Changes> {
        feed::changes(self, since, limit, wait)
    }

    fn verify(&self, session: Option<&SessionId>) -> Result<Verification> {
        match session {
            Some(id) => verify::session(self, id),
            None => verify::all(self),
        }
    }
}

impl Maintenance for SqliteStore {
    fn gc(&self, _now: Timestamp) -> Result<Collected> {
        maintenance::gc(self)
    }

    fn pack(&self, cold: Timestamp) -> Result<Packed> {
        pack::pack(self, cold)
    }

    fn store_bytes(&self) -> Result<u64> {
        maintenance::store_bytes(self.path())
    }
}
