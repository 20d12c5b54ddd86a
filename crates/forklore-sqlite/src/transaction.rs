//! Runs a [`Transaction`] as one SQLite transaction.

use forklore_core::{SessionId, SessionKind, Strategy};
use forklore_store::Result as StoreResult;
use forklore_store::port::{
    Change, Changed, Committed, NewSession, Removal, Transaction, Write, Written,
};

use crate::copy::{self, BATCH, Staged};
use crate::fault::Result;
use crate::sources::Import;
use crate::store::{Durable, SqliteStore};
use crate::write_tx::WriteTx;
use crate::{append, change, create, detach, remove, session};

/// Performs all writes of the transaction, or none if one of them fails.
pub(crate) fn commit(store: &SqliteStore, transaction: Transaction) -> StoreResult<Committed> {
    let Transaction { mut writes, source, .. } = transaction;
    if source.is_none() && matches!(*writes, [Write::Append { .. }]) {
        // Appends of several threads share one SQLite transaction.
        if let Some(Write::Append { session, append }) = writes.pop() {
            return Ok(Written::Appended(store.append_queued(&session, append)?).into());
        }
    }
    let staged = stage(store, &writes)?;
    let durable = match &source {
        Some(step) if !step.last => Durable::WithNext,
        _ => Durable::Now,
    };
    let done = store.write_with(durable, doing(&writes), |tx| {
        let mut import = source.as_deref().map(|step| Import::begin(tx, step)).transpose()?;
        let mut written = Vec::with_capacity(writes.len());
        for (write, staged) in writes.iter().zip(&staged) {
            tx.begin_part();
            written.push(one(tx, write, staged.as_ref())?);
            if let Some(import) = &mut import {
                import.note(tx, write)?;
            }
        }
        let source = import.map(|import| import.finish(tx)).transpose()?;
        Ok(Committed { written, source })
    });
    for (at, staged) in staged.iter().enumerate() {
        let written = done.as_ref().ok().and_then(|committed| committed.written.get(at));
        if let Some(staged) = staged.as_ref().filter(|_| !is_copied(written)) {
            staged.abandon(store);
        }
    }
    done
}

/// Returns what these writes do, as words for an error message.
fn doing(writes: &[Write]) -> &'static str {
    match writes {
        [Write::Create(_)] => "making a session in",
        [Write::Change { .. }] => "changing",
        [Write::Remove(_)] => "deleting from",
        _ => "writing to",
    }
}

fn one(tx: &WriteTx<'_>, write: &Write, staged: Option<&Staged>) -> Result<Written> {
    Ok(match write {
        Write::Create(new) => Written::Created(Box::new(create::create(tx, new, staged)?)),
        Write::Append { session, append } => {
            Written::Appended(append::append(tx, session, append)?)
        }
        Write::Change { session, change: Change::Detach } => {
            Written::Changed(Box::new(detach::detach(tx, session, staged)?))
        }
        Write::Change { session, change } => {
            let header = change::change(tx, session, change)?;
            Written::Changed(Box::new(Changed { header, copied_events: 0 }))
        }
        Write::Remove(Removal { sessions, children, now }) => {
            Written::Removed(remove::remove(tx, sessions, *children, *now)?)
        }
    })
}

/// Checks whether a write used the copy of events that was made for it before the transaction.
fn is_copied(written: Option<&Written>) -> bool {
    match written {
        Some(Written::Created(_)) => true,
        Some(Written::Changed(changed)) => changed.copied_events > 0,
        _ => false,
    }
}

/// Copies the long prefixes (inherited events) that the writes need, except the last batch of each.
/// This happens before the transaction, so that other writers do not wait for the copies.
fn stage(store: &SqliteStore, writes: &[Write]) -> StoreResult<Vec<Option<Staged>>> {
    let mut all: Vec<Option<Staged>> = Vec::with_capacity(writes.len());
    for write in writes {
        let staged = match copied(store, write) {
            Some((session, stored)) if stored > BATCH => {
                copy::stage(store, &session, stored).map(Some)
            }
            _ => Ok(None),
        };
        match staged {
            Ok(staged) => all.push(staged),
            Err(error) => {
                all.iter().flatten().for_each(|staged| staged.abandon(store));
                return Err(error);
            }
        }
    }
    Ok(all)
}

/// Returns the session from which a write copies events, and the number of inheritable events to
/// copy. Returns `None` if the write copies nothing or will be refused, or if an earlier write of
/// the same transaction creates that session.
fn copied(store: &SqliteStore, write: &Write) -> Option<(SessionId, u64)> {
    match write {
        Write::Create(new) => {
            let from = new.from.as_ref().filter(|from| {
                from.strategy == Strategy::ReplayV1 && new.kind == SessionKind::Branch
            })?;
            let is_sound = |new: &NewSession| {
                store.read_with("reading", |conn| create::check(conn, new)).is_ok()
            };
            is_sound(new).then(|| (from.parent.clone(), from.cut.inheritable))
        }
        Write::Change { session, change: Change::Detach } => {
            let read = store.read_with("reading", |conn| session::living(conn, session));
            let header = read.ok()?.header;
            (!detach::has_own(&header)).then(|| (session.clone(), header.inherited.inheritable))
        }
        _ => None,
    }
}
