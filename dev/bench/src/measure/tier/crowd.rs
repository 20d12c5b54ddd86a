//! Threads that append at the same time, each to its own session.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use forklore::prelude::*;

use super::batch::one;
use crate::error::{Error, Result};

/// Appends for some time, with a thread for each session. Returns the time divided by the number of
/// all appends.
pub(super) fn append(engine: &Engine, sessions: &[SessionId], time: Duration) -> Result<Duration> {
    let request = one()?;
    let barrier = Barrier::new(sessions.len());
    let start = Instant::now();
    let done = thread::scope(|scope| {
        let threads = sessions.iter().map(|id| {
            let (request, barrier) = (&request, &barrier);
            scope.spawn(move || -> Result<u32> {
                barrier.wait();
                let (start, mut done) = (Instant::now(), 0);
                while start.elapsed() < time {
                    engine.append(id, request)?;
                    done += 1;
                }
                Ok(done)
            })
        });
        let threads: Vec<_> = threads.collect();
        let panicked = |_| Error::Wrong("a thread panicked".into());
        threads.into_iter().map(|it| it.join().map_err(panicked)?).sum::<Result<u32>>()
    })?;
    Ok(start.elapsed() / done.max(1))
}
