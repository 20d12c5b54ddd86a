//! Deletes sessions, and erases the events that no other session needs.

use std::collections::BTreeMap;

use forklore_core::{Header, SessionId};
use forklore_store::Error;
use forklore_store::feed::What;
use forklore_store::port::{Children, Removal, Removed};
use forklore_store::rules::{self, Deleted, is_deleted_by, lease_of_other, refuse_children};

use super::Attempt;
use crate::connection::{text, texts};
use crate::fault::{Fault, Result};
use crate::{erase, operation, source};

impl Attempt<'_> {
    pub(super) fn remove(&mut self, removal: &Removal) -> Result<Removed> {
        self.flush()?;
        for id in &removal.sessions {
            let header = self.header(id)?;
            if is_deleted_by(&header, removal.deletion) {
                self.check_removable(&header, removal)?;
            }
        }
        let (mut removed, mut erased) = (Removed::default(), BTreeMap::new());
        for id in &removal.sessions {
            let mut session = self.any(id)?;
            let now = removal.now.min(self.now);
            match rules::delete(&mut session.header, removal.deletion, now) {
                Deleted::Skipped => continue,
                Deleted::Trashed => {}
                Deleted::Erased => {
                    session.open = Vec::new();
                    let family = session.header.root_id.clone();
                    erased.entry(family).or_insert_with(Vec::new).push(id.clone());
                }
            }
            removed.deleted.push(id.clone());
            self.put(session, What::Changed);
        }
        self.flush()?;
        for (family, ids) in &erased {
            removed.retained_segments += erase::unneeded(self.database, family, ids)?;
        }
        let erased: Vec<_> = erased.into_values().flatten().collect();
        if !erased.is_empty() {
            source::forget(self.database, &erased)?;
            operation::forget(self.database, &erased)?;
        }
        Ok(removed)
    }

    fn check_removable(&self, header: &Header, removal: &Removal) -> Result<()> {
        if let Some(lease) = lease_of_other(header, None, self.now) {
            let owner = lease.owner.clone();
            return Err(Error::Leased { session: header.id.clone(), owner }.into());
        }
        let left = match removal.children {
            Children::Retain => Vec::new(),
            Children::Refuse => self.children(header, &removal.sessions)?,
        };
        Ok(refuse_children(header, removal.children, left)?)
    }

    /// Returns the branch children that build on a session and are not deleted with it.
    fn children(&self, parent: &Header, but: &[SessionId]) -> Result<Vec<SessionId>> {
        let sql = "SELECT id FROM forklore.session
             WHERE tenant = $1 AND family = $2 AND parent = $3 AND state = 0 AND builds
               AND id <> ALL ($4::text[])
             ORDER BY id";
        let (family, id) = (parent.root_id.as_str(), parent.id.as_str());
        let but: Vec<_> = but.iter().map(SessionId::as_str).collect();
        let values = [text(&self.database.tenant), text(&family), text(&id), texts(&but)];
        let rows = self.database.connection.rows(sql, &values)?;
        let parse = |row: &tokio_postgres::Row| {
            let id: String = row.try_get(0)?;
            id.parse().map_err(|_| Fault::damaged(&id, None, "its id is no id"))
        };
        rows.iter().map(parse).collect()
    }
}
