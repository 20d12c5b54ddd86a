//! One sync for many commits.
//!
//! Whoever committed draws a ticket. Whoever finds no sync running begins one, which serves all
//! tickets drawn before; the others wait for it, and whom it does not serve for the next one.

use std::sync::{Condvar, Mutex};

use forklore_store::Result;

use super::lock;

/// The place of a commit among all of this handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[must_use]
pub(super) struct Ticket(u64);

/// Which commits there were, and which of them are durable.
#[derive(Debug, Default)]
pub(super) struct Tickets {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    drawn: u64,
    durable: u64,
    syncing: bool,
}

impl Tickets {
    /// A ticket for what was just committed.
    pub(super) fn draw(&self) -> Ticket {
        let mut state = lock(&self.state);
        state.drawn += 1;
        Ticket(state.drawn)
    }

    /// Returns when what was committed before the ticket was drawn is durable, by the `sync` of
    /// this thread or of another one. `may` says before each try whether it makes sense still.
    ///
    /// # Errors
    /// Those of `may`, and of the thread's own `sync`; the others then try theirs.
    pub(super) fn wait(
        &self,
        Ticket(mine): Ticket,
        may: impl Fn() -> Result<()>,
        sync: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let mut state = lock(&self.state);
        while state.durable < mine {
            may()?;
            if !state.syncing {
                state.syncing = true;
                // A commit during the sync may be in it or not.
                let serves = state.drawn;
                drop(state);
                let synced = Syncing(self).run(serves, sync);
                return synced;
            }
            state = self.ended.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        Ok(())
    }
}

/// A sync that runs; whatever becomes of it, the next may begin.
struct Syncing<'t>(&'t Tickets);

impl Syncing<'_> {
    fn run(self, serves: u64, sync: impl FnOnce() -> Result<()>) -> Result<()> {
        sync()?;
        lock(&self.0.state).durable = serves;
        Ok(())
    }
}

impl Drop for Syncing<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).syncing = false;
        self.0.ended.notify_all();
    }
}
