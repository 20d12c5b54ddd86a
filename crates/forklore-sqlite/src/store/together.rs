//! Appends of many threads, each a step of its own and all in one transaction.

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
    /// Adds events behind the head of a session, in one transaction with what other threads add;
    /// durable when it returns.
    pub(crate) fn append_together(&self, session: &SessionId, append: Append) -> Result<Appended> {
        let append = Arc::new(append);
        let slot = self.queue.join(session, &append);
        loop {
            match slot.word() {
                Word::Write => self.write_batch(self.queue.batch()),
                Word::Done(done) => {
                    let (appended, ticket) = done?;
                    // Mostly the thread that wrote it has done that too.
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
                // Where that fails, each hears it when it tries.
                let _ = self.sync(DOING, ticket);
                let told = |fault: Fault| fault.about(DOING, &self.path);
                let done = done.into_iter().map(|done| Ok((done.map_err(told)?, ticket)));
                batch.tell(done.collect());
            }
            Err(error) if batch.appends.len() == 1 => batch.tell(vec![Err(error)]),
            // Nothing was written, and each hears why when it tries alone.
            Err(_) => {}
        }
    }
}

/// Writes one append, or nothing of it where it is refused; the outer error is everybody's.
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
