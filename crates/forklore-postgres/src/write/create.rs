//! Creates a session: a root, or a child that refers to its parent's events.

use forklore_core::{Counts, Header, Label, OpenCall, SessionId, SessionKind, Strategy};
use forklore_store::Error;
use forklore_store::feed::What;
use forklore_store::port::{Beginning, NewSession};
use forklore_store::rules::{check_cut, check_kind};

use super::Attempt;
use super::append::Tail;
use super::copy::copy;
use crate::connection::text;
use crate::fault::{Fault, Result};
use crate::history::History;
use crate::read::open_calls;
use crate::session::{Inheritance, Session};

/// What a child gets from its parent.
#[derive(Default)]
struct Inherited {
    counts: Counts,
    open: Vec<OpenCall>,
    origin: Inheritance,
}

impl Attempt<'_> {
    pub(super) fn create(&mut self, new: &NewSession) -> Result<Header> {
        self.check_id(&new.id)?;
        let parent = match check_kind(new)? {
            Some(from) => {
                let parent = self.living(&from.parent)?;
                check_cut(from, &parent.header)?;
                Some(parent)
            }
            None => None,
        };
        // The statements below have to see what the transaction wrote before.
        self.flush()?;
        let parent_header = parent.as_ref().map(|parent| parent.header.clone());
        let root = parent_header.as_ref().map_or(&new.id, |parent| &parent.root_id);
        self.check_label(root, &new.label, &new.id)?;
        self.take_id(root, &new.id)?;
        let inherited = match (parent, &new.from) {
            (Some(parent), Some(from)) => self.inherit(new, parent, from)?,
            _ => Inherited::default(),
        };
        let header = new.header(parent_header.as_ref(), inherited.counts, self.now);
        let Inherited { open, origin, .. } = inherited;
        let mut tail = Tail::of(Session { header, origin, open });
        let mut events = new.events.as_slice();
        if let (Some(_), [fork, rest @ ..]) = (&new.from, events) {
            tail.push_fork(self, fork)?;
            events = rest;
        }
        for event in events {
            tail.push(self, event)?;
        }
        let session = tail.end();
        let header = session.header.clone();
        self.put(session, What::Created);
        Ok(header)
    }

    /// Refuses an id that a session has, also in another spelling.
    fn check_id(&self, id: &SessionId) -> Result<()> {
        let sql = "SELECT 1 FROM forklore.name WHERE tenant = $1 AND folded = $2";
        let (tenant, folded) = (self.database.tenant, id.fold());
        let found = self.database.connection.row(sql, &[text(&tenant), text(&folded)])?;
        if found.is_some() { Err(Error::IdInUse(id.clone()).into()) } else { Ok(()) }
    }

    /// Takes the id. If another transaction takes it at the same time, waits for that one's end.
    fn take_id(&self, root: &SessionId, id: &SessionId) -> Result<()> {
        let sql = "INSERT INTO forklore.name (tenant, folded, id, family) VALUES ($1, $2, $3, $4)";
        let (folded, id, family) = (id.fold(), id.as_str(), root.as_str());
        let values = [text(&self.database.tenant), text(&folded), text(&id), text(&family)];
        self.database.connection.execute(sql, &values)?;
        Ok(())
    }

    /// Refuses a label that a living session of the family has, except possibly the session `but`.
    pub(super) fn check_label(
        &self,
        root: &SessionId,
        label: &Label,
        but: &SessionId,
    ) -> Result<()> {
        let sql = "SELECT id FROM forklore.session
             WHERE tenant = $1 AND family = $2 AND label = $3 AND state = 0 AND id <> $4";
        let (family, name, but) = (root.as_str(), label.as_str(), but.as_str());
        let values = [text(&self.database.tenant), text(&family), text(&name), text(&but)];
        let Some(row) = self.database.connection.row(sql, &values)? else { return Ok(()) };
        let by: String = row.try_get(0)?;
        let by = by.parse().map_err(|_| Fault::damaged(&by, None, "its id is no id"))?;
        Err(Error::LabelInUse { label: label.clone(), by }.into())
    }

    fn inherit(&self, new: &NewSession, parent: Session, from: &Beginning) -> Result<Inherited> {
        let inheritable = from.cut.inheritable;
        if new.kind != SessionKind::Branch || inheritable == 0 {
            let owned = from.strategy == Strategy::ReplayV1;
            let origin = Inheritance { base: None, owned };
            return Ok(Inherited { origin, ..Inherited::default() });
        }
        let history = History::of(self.database, parent)?;
        let counts = history.counts_after(self.database, inheritable)?;
        let open = match counts.open {
            0 => Vec::new(),
            _ => open_calls(self.database, &history, inheritable)?,
        };
        let origin = if from.strategy == Strategy::ReplayV1 {
            copy(self.database, &history, inheritable, new.id.as_str())?;
            Inheritance { base: None, owned: true }
        } else {
            Inheritance { base: history.base(inheritable), owned: false }
        };
        Ok(Inherited { counts, open, origin })
    }
}
