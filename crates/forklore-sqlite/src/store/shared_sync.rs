//! Group commit: one sync makes many commits durable.
//!
//! Each committing thread draws a ticket. If no sync is running, the thread starts a sync, which
//! covers every ticket drawn so far. Otherwise the thread waits for the end of the running sync. If
//! that sync does not cover the thread's ticket, the thread starts the next sync or waits for it.

use std::sync::{Condvar, Mutex};

use forklore_store::Result;

use super::mutex::lock;

/// The number of a commit of this store handle. Commits are counted from 1. With this number, a
/// thread waits until its commit is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[must_use]
pub(super) struct Ticket(u64);

/// Counts the commits of a store handle, and records which of them are durable. A ticket is the
/// number of a commit.
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
    /// Counts the commit that the caller has just made, and returns its number.
    pub(super) fn draw(&self) -> Ticket {
        let mut state = lock(&self.state);
        state.drawn += 1;
        Ticket(state.drawn)
    }

    /// Waits until the commit `mine` and all earlier commits are durable. If no other thread is
    /// syncing, runs `sync` itself. Before each attempt to sync or wait, calls `may`. If `may`
    /// fails, a sync is useless, and the wait ends with the error of `may`.
    ///
    /// # Errors
    /// The errors of `may` and of `sync`. If `sync` fails in this thread, each waiting thread tries
    /// its own `sync`.
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
                // A sync need not cover commits that are made while it runs. So it counts only for
                // the tickets drawn before it starts.
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

/// Marks that a sync is running. Dropping it, after success or failure, allows the next sync to
/// start.
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicU64, Ordering};

    use forklore_store::Error;

    use super::*;

    fn always() -> Result<()> {
        Ok(())
    }

    fn failed() -> Result<()> {
        Err(Error::Locked("no".into()))
    }

    #[test]
    fn one_sync_serves_every_ticket_drawn_before() {
        let (tickets, syncs) = (Tickets::default(), Cell::new(0));
        let sync = || {
            syncs.set(syncs.get() + 1);
            Ok(())
        };
        let [first, second, third] = std::array::from_fn(|_| tickets.draw());
        for ticket in [second, first, third] {
            tickets.wait(ticket, always, sync).unwrap();
        }
        assert_eq!(syncs.get(), 1);
    }

    #[test]
    fn a_ticket_drawn_during_a_sync_needs_the_next_one() {
        let (tickets, late, syncs) = (Tickets::default(), Cell::new(None), Cell::new(0));
        let first = tickets.draw();
        let sync = || {
            late.set(Some(tickets.draw()));
            Ok(())
        };
        tickets.wait(first, always, sync).unwrap();
        let again = || {
            syncs.set(syncs.get() + 1);
            Ok(())
        };
        tickets.wait(late.take().unwrap(), always, again).unwrap();
        assert_eq!(syncs.get(), 1);
    }

    #[test]
    fn a_sync_that_fails_serves_nobody() {
        let tickets = Tickets::default();
        let (first, second) = (tickets.draw(), tickets.draw());
        tickets.wait(first, always, failed).unwrap_err();
        tickets.wait(second, failed, || panic!("not any more")).unwrap_err();
        tickets.wait(first, always, always).unwrap();
        tickets.wait(second, failed, failed).unwrap();
    }

    #[test]
    fn threads_share_syncs_and_each_is_served() {
        const THREADS: u64 = 8;
        const EACH: u64 = 50;
        let (tickets, begin) = (Tickets::default(), Barrier::new(8));
        let (written, durable, syncs) = <(AtomicU64, AtomicU64, AtomicU64)>::default();
        let work = || {
            begin.wait();
            for _ in 0..EACH {
                let mine = written.fetch_add(1, Ordering::SeqCst) + 1;
                let ticket = tickets.draw();
                let sync = || {
                    let all = written.load(Ordering::SeqCst);
                    std::thread::sleep(std::time::Duration::from_micros(100));
                    durable.store(all, Ordering::SeqCst);
                    syncs.fetch_add(1, Ordering::SeqCst);
                    Ok(())
                };
                tickets.wait(ticket, always, sync).unwrap();
                assert!(durable.load(Ordering::SeqCst) >= mine);
            }
        };
        std::thread::scope(|scope| (0..THREADS).for_each(|_| drop(scope.spawn(work))));
        let syncs = syncs.into_inner();
        assert!((1..THREADS * EACH).contains(&syncs), "{syncs} syncs");
    }
}
