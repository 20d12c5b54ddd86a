//! Writes the import steps of a long file on a separate thread while the next step is collected.

use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::Scope;

use forklore_store::Error as StoreError;
use forklore_store::Store;
use forklore_store::attachments::Pin;
use forklore_store::port::{Committed, Transaction};

/// Minimum number of unread bytes of a file for which a separate thread writes to the store.
pub(crate) const LONG: u64 = 8 << 20;

type Written = Result<Committed, StoreError>;

/// A thread that writes import steps to the store in order. At most one step is pending.
pub(crate) struct Writer {
    steps: SyncSender<(Transaction, Vec<Pin>)>,
    written: Receiver<Written>,
    waiting: bool,
}

impl Writer {
    /// Starts the thread that writes import steps. It ends when the `Writer` is dropped, or after a
    /// step that failed.
    pub(crate) fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        sources: &'scope dyn Store,
    ) -> Self {
        let (steps, to_write) = sync_channel::<(Transaction, Vec<Pin>)>(0);
        let (done, written) = channel();
        scope.spawn(move || {
            for (step, pins) in to_write {
                let result = sources.commit(step);
                drop(pins);
                let failed = result.is_err();
                if done.send(result).is_err() || failed {
                    return;
                }
            }
        });
        Self { steps, written, waiting: false }
    }

    /// Waits until the previous import step is written. Then passes the next step to the thread,
    /// with the pins that protect its attachments from cleanup.
    pub(crate) fn write(&mut self, step: Transaction, pins: Vec<Pin>) -> Result<(), StoreError> {
        self.settle()?;
        self.steps.send((step, pins)).map_err(|_| stopped())?;
        self.waiting = true;
        Ok(())
    }

    /// Waits until the store contains every import step that was passed to the thread.
    pub(crate) fn settle(&mut self) -> Result<(), StoreError> {
        if !std::mem::take(&mut self.waiting) {
            return Ok(());
        }
        self.written.recv().unwrap_or_else(|_| Err(stopped())).map(|_| ())
    }
}

fn stopped() -> StoreError {
    StoreError::io("writing an imported file", "the writer has stopped")
}
