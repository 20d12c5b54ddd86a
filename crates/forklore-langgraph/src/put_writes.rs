//! Stores what a task wrote.

use forklore_engine::{Error, Result};
use forklore_store::Error as StoreError;

use crate::open::is_gone;
use crate::put::{TRIES, is_lost_race};
use crate::record::{WRITES, WritesRecord};
use crate::request::PutWrites;
use crate::saver::{Saver, invalid, read};
use crate::staging::Staging;
use crate::thread::Thread;

impl Saver {
    /// Stores writes of a task. The checkpoint need not exist yet: LangGraph may store it later.
    /// A write whose task and index exist is ignored, unless the index is negative.
    ///
    /// # Errors
    /// Those of [`put`](Self::put).
    pub fn put_writes(&self, request: &str) -> Result<()> {
        let request: PutWrites = read(request)?;
        for _ in 0..TRIES {
            match self.try_put_writes(&request) {
                Err(error) if is_lost_race(&error) => {
                    if is_gone(&error) {
                        self.forget(&request.thread);
                    }
                }
                done => return done,
            }
        }
        Err(Error::Store(StoreError::Locked("other writers were always faster".to_owned())))
    }

    fn try_put_writes(&self, request: &PutWrites) -> Result<()> {
        let slot = match self.open(&request.thread)? {
            Some(slot) => slot,
            None => {
                self.ensure_first(&request.thread)?;
                self.open(&request.thread)?
                    .ok_or_else(|| invalid("thread", "the thread is gone"))?
            }
        };
        let thread = &mut *slot.thread();
        let line = line_of(thread, &request.checkpoint);
        let old = thread.writes.get(request.checkpoint.as_str());
        let exists = |index| {
            old.is_some_and(|all| all.iter().any(|it| it.task == request.task && it.index == index))
        };
        let mut staging = Staging::new(&self.engine, thread, line, &request.elements).embedding();
        let mut writes = Vec::new();
        for write in request.writes.iter().filter(|it| it.index < 0 || !exists(it.index)) {
            writes.push((write.index, write.channel.clone(), staging.record(&write.text)?));
        }
        if writes.is_empty() {
            return Ok(());
        }
        let last = thread.lines.get(line).and_then(|line| line.last);
        let implied = last.is_some() && last == thread.find(&request.checkpoint);
        let record = WritesRecord {
            checkpoint: (!implied).then(|| request.checkpoint.clone()),
            task: request.task.clone(),
            path: request.path.clone(),
            writes,
            elements: staging.embedded(),
        };
        staging.finish(WRITES, &record, None)?.append(&self.engine, thread)?;
        slot.weigh(thread);
        Ok(())
    }
}

/// Returns the line whose last checkpoint is the one with this id, or else the line that has it. The
/// writes of a checkpoint that does not exist yet are in the first line.
fn line_of(thread: &Thread, checkpoint: &str) -> usize {
    let Some(at) = thread.find(checkpoint) else { return 0 };
    let ending = thread.line_ending_with(at);
    ending.or_else(|| Some(thread.checkpoint(at)?.line)).unwrap_or(0)
}
