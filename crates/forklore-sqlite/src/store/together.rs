//! Writes the appends of many threads in one transaction. Each append succeeds or fails separately.

use std::sync::Arc;

use forklore_core::SessionId;
use forklore_store::Result;
use forklore_store::port::{Append, Appended};

use super::SqliteStore;
use super::queue::{Batch, Waiting, Word};
use crate::append;
use crate::fault::Fault;
use crate::write::WriteTx;

const DOING: &str = "appending to";

impl SqliteStore {
    /// Appends events to a session, in one transaction with the appends of other threads. Returns
    /// when the events are durable.
    pub(crate) fn append_together(&self, session: &SessionId, append: Append) -> Result<Appended> {
        let append = Arc::new(append);
        let slot = self.queue.join(session, &append);
        loop {
            match slot.word() {
                Word::Write => self.write_batch(self.queue.batch()),
                Word::Done(done) => {
                    let (appended, ticket) = done?;
                    // The thread that wrote the append has usually synced already.
                    self.sync(DOING, ticket)?;
                    self.checkpoints.look();
                    return Ok(appended);
                }
                Word::Alone => {
                    return self.write(DOING, |tx| append::append(tx, session, &append));
                }
            }
        }
    }

    fn write_batch(&self, mut batch: Batch<'_>) {
        let committed = self.commit(DOING, |conn| {
            self.transaction(conn, |tx| match batch.appends.as_slice() {
                [one] => Ok(vec![Ok(append::append(tx, &one.session, &one.append)?)]),
                many => many.iter().map(|one| apart(tx, one)).collect(),
            })
        });
        batch.pass_on();
        match committed {
            Ok((done, ticket)) => {
                // Ignore a failure here: each thread tries to sync too, and gets the error from its
                // own attempt.
                let _ = self.sync(DOING, ticket);
                let explained = |fault: Fault| fault.about(DOING, &self.path);
                let done = done.into_iter().map(|done| Ok((done.map_err(explained)?, ticket)));
                batch.tell(done.collect());
            }
            Err(error) if batch.appends.len() == 1 => batch.tell(vec![Err(error)]),
            // Nothing was written. Dropping the batch makes each thread retry alone, and the retry
            // returns the error.
            Err(_) => {}
        }
    }
}

/// Writes one append in a savepoint. The inner error means that this append was refused and rolled
/// back. The outer error means that the whole transaction failed.
fn apart(tx: &WriteTx<'_>, one: &Waiting) -> Result<Result<Appended, Fault>, Fault> {
    tx.prepare_cached("SAVEPOINT one")?.execute([])?;
    let done = append::append(tx, &one.session, &one.append);
    match done {
        Err(Fault::Sql(error)) => return Err(Fault::Sql(error)),
        Err(_) => {
            tx.prepare_cached("ROLLBACK TO one")?.execute([])?;
        }
        Ok(_) => {}
    }
    tx.prepare_cached("RELEASE one")?.execute([])?;
    Ok(done)
}
