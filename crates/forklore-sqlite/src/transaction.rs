//! Runs a [`Transaction`], or several, as one SQLite transaction.

use std::iter;

use forklore_core::{SessionId, SessionKind, Strategy};
use forklore_store::Result as StoreResult;
use forklore_store::port::{
    Change, Changed, Committed, NewOperation, NewSession, Store as _, Transaction, Write, Written,
};
use forklore_store::rules::Recording;
use forklore_store::sources::SourceStep;

use crate::copy::{self, BATCH, Staged};
use crate::fault::{Fault, Result};
use crate::sources::Import;
use crate::store::{Durable, SqliteStore};
use crate::write_tx::WriteTx;
use crate::{append, change, create, detach, operation, redact, remove, session};

/// Performs all writes of the transaction, or none if one of them fails.
pub(crate) fn commit(store: &SqliteStore, transaction: Transaction) -> StoreResult<Committed> {
    let Transaction { mut writes, source, operation, .. } = transaction;
    if source.is_none() && operation.is_none() && matches!(*writes, [Write::Append { .. }]) {
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
        let staged = staged.iter().map(Option::as_ref);
        all_writes(tx, &writes, source.as_deref(), operation.as_deref(), staged)
    });
    for (at, staged) in staged.iter().enumerate() {
        let written = done.as_ref().ok().and_then(|committed| committed.written.get(at));
        if let Some(staged) = staged.as_ref().filter(|_| !is_copied(written)) {
            staged.abandon(store);
        }
    }
    done
}

/// Performs several transactions. Each succeeds or fails by itself.
pub(crate) fn commit_all(
    store: &SqliteStore,
    transactions: Vec<Transaction>,
) -> StoreResult<Vec<StoreResult<Committed>>> {
    let plain = |one: &Transaction| one.attachments.is_empty() && !one.writes.iter().any(copies);
    if transactions.iter().all(plain) {
        match together(store, &transactions) {
            // One of them was refused, so nothing was written. Each then gets its own result.
            Err(error) if !error.is_of_store() => {}
            done => return Ok(done?.into_iter().map(Ok).collect()),
        }
    }
    let mut done = Vec::with_capacity(transactions.len());
    for transaction in transactions {
        match store.commit(transaction) {
            Err(error) if error.is_of_store() => return Err(error),
            one => done.push(one),
        }
    }
    Ok(done)
}

/// Performs the writes of all these transactions in one SQLite transaction: all of them, or none if
/// one is refused. Many small transactions change the same pages, which are then written once.
fn together(store: &SqliteStore, transactions: &[Transaction]) -> StoreResult<Vec<Committed>> {
    store.write_with(Durable::Now, doing(&[]), |tx| {
        let each = transactions.iter();
        each.map(|one| {
            let (step, operation) = (one.source.as_deref(), one.operation.as_deref());
            all_writes(tx, &one.writes, step, operation, iter::repeat(None))
        })
        .collect()
    })
}

/// Performs the writes of one transaction. `staged` has the copies of events that were made before
/// the SQLite transaction, in the order of the writes.
fn all_writes<'s>(
    tx: &WriteTx<'_>,
    writes: &[Write],
    step: Option<&SourceStep>,
    operation: Option<&NewOperation>,
    staged: impl IntoIterator<Item = Option<&'s Staged>>,
) -> Result<Committed> {
    let former = |id: &SessionId| Ok::<_, Fault>(session::any(tx, id)?.header);
    let begin = |operation| Recording::begin(operation, former);
    let mut recording = operation.map(begin).transpose()?;
    let mut import = step.map(|step| Import::begin(tx, step)).transpose()?;
    let mut written = Vec::with_capacity(writes.len());
    for (write, staged) in writes.iter().zip(staged) {
        tx.begin_part();
        if let Some(recording) = &mut recording {
            recording.before(write, former)?;
        }
        let done = one(tx, write, staged)?;
        if let Some(recording) = &mut recording {
            recording.after(write, &done);
        }
        written.push(done);
        if let Some(import) = &mut import {
            import.note(tx, write)?;
        }
    }
    let source = import.map(|import| import.finish(tx)).transpose()?;
    let recorded = recording.and_then(Recording::end);
    let operation = recorded.map(|recorded| operation::record(tx, recorded)).transpose()?;
    Ok(Committed { written, source, operation })
}

/// Checks whether a write may copy many events. Most of them are then copied before the transaction
/// of the write.
fn copies(write: &Write) -> bool {
    match write {
        Write::Create(new) => {
            new.from.as_ref().is_some_and(|from| from.strategy == Strategy::ReplayV1)
        }
        Write::Change { change, .. } => *change == Change::Detach,
        Write::Append { .. } | Write::Remove(_) | Write::Redact(_) => false,
    }
}

/// Returns what these writes do, as words for an error message.
fn doing(writes: &[Write]) -> &'static str {
    match writes {
        [Write::Create(_)] => "making a session in",
        [Write::Change { .. }] => "changing",
        [Write::Remove(_)] => "deleting from",
        [Write::Redact(_)] => "redacting events of",
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
        Write::Remove(removal) => Written::Removed(remove::remove(tx, removal)?),
        Write::Redact(redactions) => Written::Redacted(redact::redact(tx, redactions)?),
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
/// This happens before the transaction, so that other writers do not wait for the copies. Returns
/// one entry for each write. The entry is `None` if no copy was begun for that write.
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
