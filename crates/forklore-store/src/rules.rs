//! The rules that are the same for all stores: functions over headers. Each store calls these
//! functions inside its own transactions.

mod append;
mod deletion;
mod depth;
mod family;
mod operation;
mod redaction;
mod repeat;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use forklore_core::header::LONGEST_LEASE;
use forklore_core::{AttachmentId, Counts, Header, Lease};
use jiff::{SignedDuration, Timestamp};

use crate::attachments::Attachments;
use crate::error::{Error, Result};
use crate::lease_owner;
use crate::port::{Cursor, Filter, NewSession, Write};
use crate::sources::SourceSession;

pub use append::{appended, check_append, repeated_seqs, repetition};
pub use deletion::{Deleted, delete, is_deleted_by, make_tombstone, undelete};
pub use depth::{ForkDepth, Link, fork_depth};
pub use family::{builds_on_parent, check_cut, check_kind, refuse_children};
pub use operation::{Outcomes, RETAINED_OPERATIONS, Recorded, Recording, mark_undone};
pub use redaction::is_redacted_by;
pub use repeat::is_repeatable;

impl NewSession {
    /// Returns the header of the new session, before its own events are counted. `inherited` are
    /// the counts after its inherited events, and `now` is the store's time.
    #[must_use]
    pub fn header(&self, parent: Option<&Header>, inherited: Counts, now: Timestamp) -> Header {
        let created = self.created.min(now);
        let from = self.from.as_ref();
        Header {
            id: self.id.clone(),
            root_id: parent.map_or(&self.id, |parent| &parent.root_id).clone(),
            parent_id: from.map(|from| from.parent.clone()),
            kind: self.kind,
            label: self.label.clone(),
            title: self.title.clone(),
            cut: from.map(|from| from.cut.clone()),
            strategy: from.map(|from| from.strategy),
            tool_calls: from.map(|from| from.tool_calls),
            inherited,
            counts: inherited,
            own_events: 0,
            own_bytes: 0,
            usage: self.usage,
            workspace: self.workspace.clone(),
            principal: self.principal.clone(),
            permissions: self.permissions.clone(),
            metadata: self.metadata.clone(),
            config: self.config.clone(),
            dialect: self.dialect.clone(),
            created,
            updated: created,
            depth: parent.map_or(0, |parent| parent.depth + 1),
            lease: None,
            detached: false,
            leaf: None,
            source: self.source.clone(),
            copy_of: self.copy_of.clone(),
            deleted: None,
        }
    }
}

impl Filter {
    /// Checks whether the session with this header matches all conditions of the filter.
    #[must_use]
    pub fn matches(&self, header: &Header) -> bool {
        let requested = |part: &String| {
            let id = header.id.as_str();
            id.starts_with(&**part) || id.ends_with(&**part)
        };
        (if self.trash { header.is_in_trash() } else { self.deleted || header.deleted.is_none() })
            && self.family.as_ref().is_none_or(|root| *root == header.root_id)
            && self.workspace.as_ref().is_none_or(|workspace| *workspace == header.workspace)
            && self.parent.as_ref().is_none_or(|parent| Some(parent) == header.parent_id.as_ref())
            && self.label.as_ref().is_none_or(|label| *label == header.label)
            && self.id_part.as_ref().is_none_or(requested)
            && self.title_prefix.as_ref().is_none_or(|prefix| begins(header, prefix))
            && (self.kinds.is_empty() || self.kinds.contains(&header.kind))
            && self.since.is_none_or(|since| header.updated >= since)
    }
}

/// Checks whether the session's title begins with `prefix`, as [`Filter::title_prefix`] says.
fn begins(header: &Header, prefix: &str) -> bool {
    let title = header.title.as_ref().map(|title| title.trim().to_lowercase());
    title.is_some_and(|title| title.starts_with(&prefix.trim().to_lowercase()))
}

impl Cursor {
    /// Returns the position in a list of sessions directly after the session with this header.
    #[must_use]
    pub fn behind(header: &Header) -> Self {
        Self { updated: header.updated, id: header.id.clone() }
    }

    /// Checks whether the session with this header comes after this position in a list of sessions.
    /// A session comes later in the list if it was updated earlier, or if it was updated at the
    /// same time and has a greater id.
    #[must_use]
    pub fn is_before(&self, header: &Header) -> bool {
        (header.updated, &self.id) < (self.updated, &header.id)
    }
}

/// Returns the lease of a session if a runtime other than `owner` has it at `now`, the store's
/// time. Returns `None` for a lease whose owner's process is certainly gone (docs/semantics.md,
/// Writing).
#[must_use]
pub fn lease_of_other<'h>(
    header: &'h Header,
    owner: Option<&str>,
    now: Timestamp,
) -> Option<&'h Lease> {
    let lease = header.leased_by_other(owner, now);
    lease.filter(|lease| !lease_owner::is_gone(&lease.owner))
}

/// Checks the lease before an append. `now` is the store's time. If `owner` is `None`, the session
/// must not be leased. Otherwise, `owner` must have the lease.
///
/// # Errors
/// `Leased` if a runtime has the lease and `owner` is `None`; `LeaseLost` if `owner` does not have
/// the lease (docs/semantics.md, Writing).
pub fn check_writer(header: &Header, owner: Option<&str>, now: Timestamp) -> Result<()> {
    let session = header.id.clone();
    // The lease of the owner itself is valid without a look at its process.
    let own = owner.filter(|owner| {
        header.leased_by_other(None, now).is_some_and(|lease| lease.owner == *owner)
    });
    if own.is_some() {
        return Ok(());
    }
    match (lease_of_other(header, None, now), owner) {
        (Some(lease), None) => Err(Error::Leased { session, owner: lease.owner.clone() }),
        (_, Some(owner)) => Err(Error::LeaseLost { session, owner: owner.into() }),
        (None, None) => Ok(()),
    }
}

/// Returns the lease that `owner` gets at `now`, the store's time. The lease is valid for `lasts`,
/// but at most for [`LONGEST_LEASE`]. A renewed lease retains the head (seq of the session's last
/// event) that it recorded when it was acquired.
///
/// # Errors
/// `Leased` while another runtime has the lease (docs/semantics.md, Writing).
pub fn take_lease(
    header: &Header,
    owner: &str,
    lasts: SignedDuration,
    now: Timestamp,
) -> Result<Lease> {
    if let Some(lease) = lease_of_other(header, Some(owner), now) {
        return Err(Error::Leased { session: header.id.clone(), owner: lease.owner.clone() });
    }
    let own = header.leased_by_other(None, now).filter(|lease| lease.owner == owner);
    let renewed = own.map(|lease| lease.began_at);
    let began_at = renewed.unwrap_or_else(|| header.head_seq());
    let expires = now.saturating_add(lasts.min(LONGEST_LEASE)).unwrap_or(now);
    Ok(Lease { owner: owner.into(), expires, began_at })
}

/// Checks that `owner` has the lease and may release it. Returns `None`, which is the session's
/// lease after the release.
///
/// # Errors
/// `LeaseLost` if `owner` does not have the lease (docs/semantics.md, Writing).
pub fn release_lease(header: &Header, owner: &str) -> Result<Option<Lease>> {
    if header.lease.as_ref().is_some_and(|lease| lease.owner == owner) {
        return Ok(None);
    }
    Err(Error::LeaseLost { session: header.id.clone(), owner: owner.into() })
}

/// Rejects a transaction if an attachment that it names does not exist in the store.
///
/// # Errors
/// `Invalid` if an attachment does not exist, and the errors of [`Attachments::find`].
pub fn check_attachments(
    attachments: Option<&Arc<dyn Attachments>>,
    named: &[AttachmentId],
) -> Result<()> {
    for id in named {
        let found = attachments.map(|attachments| attachments.find(id)).transpose()?;
        if found.flatten().is_none() {
            return Err(Error::Invalid(format!("attachment {id} is not in the store")));
        }
    }
    Ok(())
}

/// Applies a write of an import step to `sessions`, the sessions of the step's source (the imported
/// file). A created session becomes the next session of the source. Events appended to a session of
/// the source count as read from the file. Returns the index of the session that changed; `None` if
/// none did.
pub fn note_source_write(sessions: &mut Vec<SourceSession>, write: &Write) -> Option<usize> {
    match write {
        Write::Create(new) => {
            let events = new.events.len() as u64;
            sessions.push(SourceSession { id: new.id.clone(), events });
            Some(sessions.len() - 1)
        }
        Write::Append { session, append } => {
            let at = sessions.iter().position(|found| found.id == *session)?;
            sessions.get_mut(at)?.events += append.events.len() as u64;
            Some(at)
        }
        Write::Change { .. } | Write::Remove(_) | Write::Redact(_) => None,
    }
}
