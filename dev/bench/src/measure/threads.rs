//! Measures concurrent appends by threads of one process, each to its own session. The more threads
//! append, the more events share a sync.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use forklore::prelude::*;

use crate::chart::{Chart, Scale};
use crate::error::{Error, Result};
use crate::figure::{Figure, Goal};
use crate::findings::Findings;
use crate::samples::{Rival, Samples, in_turns};
use crate::scene::{Scene, message, session};

const THREADS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
const ROUNDS: usize = 11;

pub(super) fn measure(scene: &Scene) -> Result<Findings> {
    let most = THREADS.into_iter().max().unwrap_or(1);
    let (bed, sessions) =
        scene.store(|engine| (0..most).map(|_| session(engine, 10)).collect::<Result<Vec<_>>>())?;
    let time = Duration::from_millis(scene.sizes.millis / 3);
    let mut rivals: Vec<Rival<'_>> = Vec::new();
    for threads in THREADS {
        let (bed, sessions) = (&bed, sessions.get(..threads).unwrap_or_default());
        rivals.push(Box::new(move || an_append(&bed.engine, sessions, time)));
    }
    let samples = in_turns(scene.rounds(ROUNDS), &mut rivals)?;
    let mut chart = Chart {
        name: "append-threads",
        title: "Durable appends of 1 KB by the threads of one process",
        across: "threads, a session each",
        up: "appends in a second",
        unit: Scale::Count,
        lines: Vec::new(),
    };
    for (threads, took) in THREADS.into_iter().zip(&samples) {
        chart.rate("forklore", threads, took);
    }
    let figure = figure(&samples).map(|figure| vec![figure]).unwrap_or_default();
    Ok(Findings::from(figure).with(chart))
}

/// Returns how many times more appends the largest number of threads completes than one thread, in
/// the same time.
fn figure(samples: &[Samples]) -> Option<Figure> {
    let (one, many) = (samples.first()?, samples.last()?);
    let most = THREADS.last()?;
    let what = format!("{most} threads: appends in the time of one thread's append");
    // More is better in this figure: the duration of one thread's append divided by that of many
    // threads.
    let figure = Figure::ratio(what, Goal::AtLeast(3.0), many, one);
    Some(figure.from(format!("{many} an append"), format!("{one} an append")))
}

/// Starts one thread per session, which appends to its session for the duration `time`. Returns the
/// average time per append: the elapsed time divided by the number of appends of all threads.
pub(super) fn an_append(
    engine: &Engine,
    sessions: &[SessionId],
    time: Duration,
) -> Result<Duration> {
    let request = Batch::from(vec![message(0)?]);
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
