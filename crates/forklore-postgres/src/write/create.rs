//! Creates a session: a root, or a child that refers to its parent's events.

use forklore_core::{Counts, Header, Label, OpenCall, SessionId, SessionKind, Strategy};
use forklore_store::Error;
use forklore_store::feed::What;
use forklore_store::port::{Beginning, NewSession};
use forklore_store::rules::{check_cut, check_kind};
use tokio_postgres::Row;

use super::Attempt;
use super::append::Tail;
use super::copy::copy;
use crate::connection::{Statement, text};
use crate::fault::{Fault, Result};
use crate::history::History;
use crate::number::signed;
use crate::read::open_calls;
use crate::session::{Inheritance, Session};

/// What a child gets from its parent.
#[derive(Default)]
struct Inherited {
    counts: Counts,
    open: Vec<OpenCall>,
    origin: Inheritance,
}

/// What is in the store that a new session depends on.
struct Found {
    is_id_in_use: bool,
    /// The living session of the family that has the label.
    label: Option<String>,
    /// The rows of the parent's ancestors.
    ancestors: Vec<Row>,
    /// The counts of the parent's history at the cut.
    counts: Option<Row>,
}

impl Attempt<'_> {
    pub(super) fn create(&mut self, new: &NewSession) -> Result<Header> {
        // The statements below have to see what the transaction wrote before.
        self.flush()?;
        let parent = self.parent_of(new);
        let found = self.find(new, parent.as_ref().ok().and_then(Option::as_ref))?;
        if found.is_id_in_use {
            return Err(Error::IdInUse(new.id.clone()).into());
        }
        let parent = parent?;
        let parent_header = parent.as_ref().map(|parent| parent.header.clone());
        let root = parent_header.as_ref().map_or(&new.id, |parent| &parent.root_id);
        refuse_label(&new.label, found.label.as_deref())?;
        self.take_id(root, &new.id);
        let inherited = match (parent, &new.from) {
            (Some(parent), Some(from)) => {
                self.inherit(new, parent, from, &found.ancestors, found.counts.as_ref())?
            }
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

    /// Returns the parent, if the new session has one and may begin there.
    fn parent_of(&self, new: &NewSession) -> Result<Option<Session>> {
        let Some(from) = check_kind(new)? else { return Ok(None) };
        let parent = self.living(&from.parent)?;
        check_cut(from, &parent.header)?;
        Ok(Some(parent))
    }

    /// Reads in one round trip what the new session depends on.
    fn find(&self, new: &NewSession, parent: Option<&Session>) -> Result<Found> {
        let (tenant, folded, id) = (self.database.tenant, new.id.fold(), new.id.as_str());
        let label = new.label.as_str();
        let root = parent.map_or(id, Session::family);
        let cut = new.from.as_ref().map_or(0, |from| from.cut.inheritable);
        let writer = parent.map_or("", Session::id);
        let at = signed(cut);
        let inherits = parent.filter(|_| new.kind == SessionKind::Branch && cut > 0);
        let ancestors = inherits.and_then(|parent| History::ancestors(&tenant, &root, parent));
        let counts = inherits.map(|parent| History::counts(&tenant, &root, (parent, &writer), &at));
        let with_id = "SELECT 1 FROM forklore.name WHERE tenant = $1 AND folded = $2";
        let mut statements = vec![
            Statement::new(with_id, vec![text(&tenant), text(&folded)]),
            with_label(&tenant, &root, &label, &id),
        ];
        let (has_ancestors, has_counts) = (ancestors.is_some(), counts.is_some());
        statements.extend(ancestors.into_iter().chain(counts));
        let mut results = self.database.connection.all(&statements)?.into_iter();
        let mut next = |is_sent: bool| {
            if is_sent { results.next().unwrap_or_default() } else { Vec::new() }
        };
        Ok(Found {
            is_id_in_use: !next(true).is_empty(),
            label: next(true).first().map(|row| row.try_get(0)).transpose()?,
            ancestors: next(has_ancestors),
            counts: next(has_counts).into_iter().next(),
        })
    }

    /// Refuses a label that a living session of the family has, except possibly the session `but`.
    pub(super) fn check_label(
        &self,
        root: &SessionId,
        label: &Label,
        but: &SessionId,
    ) -> Result<()> {
        let (tenant, root, name, but) =
            (self.database.tenant, root.as_str(), label.as_str(), but.as_str());
        let Statement { sql, values } = with_label(&tenant, &root, &name, &but);
        let row = self.database.connection.row(&sql, &values)?;
        let by: Option<String> = row.map(|row| row.try_get(0)).transpose()?;
        refuse_label(label, by.as_deref())
    }

    fn inherit(
        &self,
        new: &NewSession,
        parent: Session,
        from: &Beginning,
        ancestors: &[Row],
        counts: Option<&Row>,
    ) -> Result<Inherited> {
        let inheritable = from.cut.inheritable;
        if new.kind != SessionKind::Branch || inheritable == 0 {
            let owned = from.strategy == Strategy::ReplayV1;
            let origin = Inheritance { base: None, owned };
            return Ok(Inherited { origin, ..Inherited::default() });
        }
        let history = History::read(parent, ancestors)?;
        let counts = history.counts_of(inheritable, counts)?;
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

/// Returns the query for the living session of a family that has a label, except the session `but`.
fn with_label<'a>(
    tenant: &'a &str,
    family: &'a &str,
    label: &'a &str,
    but: &'a &str,
) -> Statement<'a> {
    let sql = "SELECT id FROM forklore.session
         WHERE tenant = $1 AND family = $2 AND label = $3 AND state = 0 AND id <> $4";
    Statement::new(sql, vec![text(tenant), text(family), text(label), text(but)])
}

fn refuse_label(label: &Label, by: Option<&str>) -> Result<()> {
    let Some(by) = by else { return Ok(()) };
    let by = by.parse().map_err(|_| Fault::damaged(by, None, "its id is no id"))?;
    Err(Error::LabelInUse { label: label.clone(), by }.into())
}
