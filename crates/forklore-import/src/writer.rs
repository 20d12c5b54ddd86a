//! Steps of a long file are written by a thread of their own while the next one is gathered.

use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::Scope;

use forklore_store::Error as StoreError;
use forklore_store::attachments::Pin;
use forklore_store::port::{Committed, Transaction};
use forklore_store::sources::Sources;

/// Files with more left to read than this are written beside the reading.
pub(crate) const LONG: u64 = 8 << 20;

type Written = Result<Committed, StoreError>;

/// Writes steps in order, at most one behind the reader.
pub(crate) struct Writer {
    steps: SyncSender<(Transaction, Vec<Pin>)>,
    written: Receiver<Written>,
    waiting: bool,
}

impl Writer {
    /// Starts the thread; it ends when the writer is dropped, or behind a step that failed.
    pub(crate) fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        sources: &'scope dyn Sources,
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

    /// Hands over a step, and the attachments that are held for it, once the one before it is
    /// written.
    pub(crate) fn write(&mut self, step: Transaction, pins: Vec<Pin>) -> Result<(), StoreError> {
        self.settle()?;
        self.steps.send((step, pins)).map_err(|_| stopped())?;
        self.waiting = true;
        Ok(())
    }

    /// Waits until everything handed over is written.
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
