//! Reading the sessions of a tenant, in a transaction or outside of one.

use forklore_core::SessionId;
use forklore_store::Error;

use crate::connection::{Connection, Statement, text, texts};
use crate::fault::{Fault, Result};
use crate::session::{COLUMNS, Session, WIDTH};

/// A connection with the tenant whose store it reads.
#[derive(Clone, Copy)]
pub(crate) struct Database<'c> {
    pub(crate) connection: &'c Connection,
    pub(crate) tenant: &'c str,
}

/// How to lock the rows of sessions until the end of the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lock {
    /// Not at all.
    None,
    /// Against a delete and a detach. Appends go on.
    Parent,
    /// Against every other write.
    Write,
    /// Against every other write and against forks.
    Alone,
}

impl Lock {
    fn sql(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Parent => "FOR KEY SHARE OF s",
            Self::Write => "FOR NO KEY UPDATE OF s",
            Self::Alone => "FOR UPDATE OF s",
        }
    }
}

/// What the store has under the id of a session.
pub(crate) enum Found {
    Session(Box<Session>),
    /// The id is taken, but the session's row is gone.
    Lost,
    Damaged(Fault),
}

/// A query for sessions by their ids.
pub(crate) struct Lookup {
    pub(crate) ids: Vec<String>,
    /// The ids without regard to case.
    pub(crate) folded: Vec<String>,
    lock: Lock,
}

impl Lookup {
    pub(crate) fn of<'i>(ids: impl IntoIterator<Item = &'i SessionId>, lock: Lock) -> Self {
        let fold = |id: &SessionId| (id.as_str().to_owned(), id.fold());
        let (ids, folded) = ids.into_iter().map(fold).unzip();
        Self { ids, folded, lock }
    }

    /// Returns the statement. A row has the columns of [`Session::of`] and then the id. Rows are
    /// locked in the order of their keys.
    pub(crate) fn statement<'a>(&'a self, tenant: &'a &str) -> Statement<'a> {
        let lock = self.lock.sql();
        if let ([id], [folded]) = (&*self.ids, &*self.folded) {
            let sql = format!(
                "SELECT {COLUMNS}, s.id FROM forklore.name k
                 JOIN forklore.session s ON s.tenant = $1 AND s.family = k.family AND s.id = $2
                 WHERE k.tenant = $1 AND k.folded = $3 {lock}"
            );
            return Statement::new(sql, vec![text(tenant), text(id), text(folded)]);
        }
        let sql = format!(
            "SELECT {COLUMNS}, n.id
             FROM unnest($2::text[], $3::text[]) AS n (id, folded)
             JOIN forklore.name k ON k.tenant = $1 AND k.folded = n.folded
             JOIN forklore.session s ON s.tenant = $1 AND s.family = k.family AND s.id = n.id
             ORDER BY s.family, s.id {lock}"
        );
        Statement::new(sql, vec![text(tenant), texts(&self.ids), texts(&self.folded)])
    }
}

impl Database<'_> {
    /// Returns the session with this id, living or deleted.
    pub(crate) fn session(self, id: &SessionId) -> Result<Session> {
        self.sessions(std::slice::from_ref(id), Lock::None)?
            .pop()
            .unwrap_or_else(|| Err(Error::NotFound(id.clone()).into()))
    }

    /// Returns the living session with this id.
    pub(crate) fn living(self, id: &SessionId) -> Result<Session> {
        let session = self.session(id)?;
        if session.header.deleted.is_some() {
            return Err(Error::Deleted(id.clone()).into());
        }
        Ok(session)
    }

    /// Returns the sessions with these ids, in this order, and locks their rows in the order of
    /// their keys.
    pub(crate) fn sessions(self, ids: &[SessionId], lock: Lock) -> Result<Vec<Result<Session>>> {
        let found = self.find(ids, lock)?;
        let answers = ids.iter().map(|id| {
            let named = |(key, _): &&(String, Found)| key == id.as_str();
            match found.iter().find(named) {
                Some((_, Found::Session(session))) => Ok(Session::clone(session)),
                Some((_, Found::Lost)) => Err(lost(id).into()),
                Some((_, Found::Damaged(fault))) => Err(repeated(fault, id)),
                None => Err(Error::NotFound(id.clone()).into()),
            }
        });
        Ok(answers.collect())
    }

    /// Returns what the store has under each of the ids that it knows.
    fn find(self, ids: &[SessionId], lock: Lock) -> Result<Vec<(String, Found)>> {
        let lookup = Lookup::of(ids, lock);
        let Statement { sql, values } = lookup.statement(&self.tenant);
        let mut found = Vec::new();
        for row in self.connection.rows(&sql, &values)? {
            let one = match Session::of(&row) {
                Ok(session) => Found::Session(Box::new(session)),
                Err(fault @ Fault::Store(_)) => Found::Damaged(fault),
                Err(fault) => return Err(fault),
            };
            found.push((row.try_get(WIDTH)?, one));
        }
        if found.len() < ids.len() {
            found.extend(self.lost(ids, &found)?);
        }
        Ok(found)
    }

    /// Returns those of the ids that are taken, exactly in this spelling, but have no row.
    fn lost(self, ids: &[SessionId], found: &[(String, Found)]) -> Result<Vec<(String, Found)>> {
        let missing = ids.iter().filter(|id| found.iter().all(|(key, _)| key != id.as_str()));
        let missing: Vec<_> = missing.cloned().collect();
        let Lookup { ids: names, folded, .. } = Lookup::of(&missing, Lock::None);
        let sql = "SELECT n.id FROM unnest($2::text[], $3::text[]) AS n (id, folded)
             JOIN forklore.name k ON k.tenant = $1 AND k.folded = n.folded AND k.id = n.id";
        let rows =
            self.connection.rows(sql, &[text(&self.tenant), texts(&names), texts(&folded)])?;
        rows.iter().map(|row| Ok((row.try_get(0)?, Found::Lost))).collect()
    }
}

fn lost(id: &SessionId) -> Error {
    let location = format!("the row of session {id}");
    Error::Lost { session: id.clone(), location }
}

/// Returns the error of a damaged row once more, because an error cannot be copied.
fn repeated(fault: &Fault, id: &SessionId) -> Fault {
    match fault {
        Fault::Store(Error::Corrupt { message, .. }) => {
            Fault::damaged(id.as_str(), None, message.as_str())
        }
        _ => Fault::damaged(id.as_str(), None, "its row cannot be read"),
    }
}
