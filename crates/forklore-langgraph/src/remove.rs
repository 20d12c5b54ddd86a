//! Removes checkpoints: those of runs, and all but the newest.

use std::collections::HashSet;
use std::ops::ControlFlow;

use forklore_engine::{Error, Result};
use forklore_store::Error as StoreError;

use crate::put::{TRIES, is_lost_race};
use crate::record::{REMOVED, RemovedRecord};
use crate::saver::Saver;
use crate::staging::Staging;
use crate::thread::{Thread, ThreadName};

impl Saver {
    /// Removes all checkpoints of a thread but the newest of each namespace. They are no longer
    /// listed or read. Their events remain, because later checkpoints build on them: a checkpoint
    /// costs only what it added, and channels that are computed from the writes of earlier
    /// checkpoints remain complete. A thread that does not exist is pruned already.
    ///
    /// # Errors
    /// The errors of an append.
    pub fn prune(&self, thread_id: &str) -> Result<()> {
        self.remove_all(Some(thread_id), |thread| {
            thread.listed().skip(1).map(|(id, _)| id.to_string()).collect()
        })
    }

    /// Removes the checkpoints whose metadata has one of these values of `run_id`, in all threads, as
    /// [`prune`](Self::prune) does. It reads all threads of the store.
    ///
    /// # Errors
    /// The errors of an append.
    pub fn delete_for_runs(&self, runs: &[String]) -> Result<()> {
        if runs.is_empty() {
            return Ok(());
        }
        let runs: HashSet<&str> = runs.iter().map(String::as_str).collect();
        self.remove_all(None, |thread| of_runs(thread, &runs))
    }

    /// Removes the checkpoints that `which` returns, in one thread or in all.
    fn remove_all(
        &self,
        thread_id: Option<&str>,
        which: impl Fn(&Thread) -> Vec<String>,
    ) -> Result<()> {
        let mut names = Vec::new();
        self.visit(thread_id, None, |name, thread| {
            if !which(thread).is_empty() {
                names.push(name.clone());
            }
            ControlFlow::Continue(())
        })?;
        names.iter().try_for_each(|name| self.remove(name, &which))
    }

    fn remove(&self, name: &ThreadName, which: impl Fn(&Thread) -> Vec<String>) -> Result<()> {
        for _ in 0..TRIES {
            let Some(slot) = self.open(name)? else { return Ok(()) };
            let thread = &mut *slot.thread();
            let checkpoints = which(thread);
            if checkpoints.is_empty() {
                return Ok(());
            }
            let staging = Staging::new(&self.engine, thread, 0, &[]);
            let staged = staging.finish(REMOVED, &RemovedRecord { checkpoints }, None)?;
            match staged.append(&self.engine, thread) {
                Err(error) if is_lost_race(&error) => {}
                done => return done,
            }
        }
        Err(Error::Store(StoreError::Locked("other writers were always faster".to_owned())))
    }
}

fn of_runs(thread: &Thread, runs: &HashSet<&str>) -> Vec<String> {
    let is_of_runs = |at: usize| {
        let metadata = thread.checkpoint(at).map(|it| &it.state.metadata);
        let run = metadata.and_then(|it| it.get("run_id")?.read::<String>().ok());
        run.is_some_and(|run| runs.contains(run.as_str()))
    };
    thread.listed().filter(|(_, at)| is_of_runs(*at)).map(|(id, _)| id.to_string()).collect()
}
