//! The rows that the writes of a transaction need, and how they are locked.

use std::collections::BTreeSet;

use forklore_core::SessionId;
use forklore_store::port::{Change, Write};

use crate::connection::{Statement, text, texts};
use crate::database::{Lock, Lookup};

/// What to lock before the writes are executed.
pub(super) struct Needs {
    /// The sessions to write to.
    targets: Lookup,
    /// The parents of new sessions.
    parents: Lookup,
    /// Whether sessions are deleted, which the other deletes of their families must not interrupt.
    is_removal: bool,
    /// Whether payloads are replaced, which nobody in the families may copy at the same time.
    is_redaction: bool,
}

impl Needs {
    pub(super) fn of(writes: &[Write]) -> Self {
        let (mut targets, mut parents) = (BTreeSet::new(), BTreeSet::new());
        let (mut lock, mut is_removal, mut is_redaction) = (Lock::Write, false, false);
        let mut created = BTreeSet::new();
        for write in writes {
            match write {
                Write::Create(new) => {
                    created.insert(&new.id);
                    parents.extend(new.from.as_ref().map(|from| &from.parent));
                }
                Write::Append { session, .. } => drop(targets.insert(session)),
                Write::Change { session, change } => {
                    if matches!(change, Change::Detach) {
                        lock = Lock::Alone;
                    }
                    targets.insert(session);
                }
                Write::Remove(removal) => {
                    (lock, is_removal) = (Lock::Alone, true);
                    targets.extend(&removal.sessions);
                }
                Write::Redact(redactions) => {
                    (lock, is_redaction) = (Lock::Alone, true);
                    targets.extend(redactions.events.iter().map(|one| &one.origin.session_id));
                    targets.extend(&redactions.titles);
                }
            }
        }
        // What the transaction creates itself is not there yet.
        let targets: BTreeSet<&SessionId> = targets.difference(&created).copied().collect();
        let parents = parents.difference(&created).filter(|id| !targets.contains(*id));
        let parents = Lookup::of(parents.copied(), Lock::Parent);
        Self { targets: Lookup::of(targets, lock), parents, is_removal, is_redaction }
    }

    /// Returns the statement that locks the families of the sessions to delete, each by the row of
    /// its root, so that deletes in one family come one after the other. For a redaction, locks all
    /// sessions of the families.
    pub(super) fn lock_families<'a>(&'a self, tenant: &'a &str) -> Option<Statement<'a>> {
        let which = if self.is_redaction { "" } else { "AND s.id = s.family" };
        let sql = format!(
            "SELECT s.id FROM forklore.session s
             WHERE s.tenant = $1 {which} AND s.family = ANY (
                 SELECT k.family FROM forklore.name k
                 WHERE k.tenant = $1 AND k.folded = ANY ($2::text[]))
             ORDER BY s.family, s.id FOR UPDATE OF s"
        );
        let values = || vec![text(tenant), texts(&self.targets.folded)];
        (self.is_removal || self.is_redaction).then(|| Statement::new(sql, values()))
    }

    /// Returns what finds and locks the sessions.
    pub(super) fn lookups(&self) -> impl Iterator<Item = &Lookup> {
        [&self.targets, &self.parents].into_iter().filter(|lookup| !lookup.ids.is_empty())
    }
}
