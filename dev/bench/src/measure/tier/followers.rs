//! Measures when 10,000 followers hear of appends by another process, as in a server that reads the
//! feed once and tells everybody who waits.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use forklore::prelude::*;
use forklore::store::port::Since;

use super::batch::one;
use crate::error::{Error, Result};
use crate::figure::{Figure, Goal, Unit};
use crate::postgres::{Server, open};
use crate::samples::{Samples, formatted};
use crate::scene::{Scene, workspace};
use crate::thousands::grouped;

/// The appends of a second, and the threads that append.
const RATE: u32 = 1_000;
const WRITERS: u32 = 16;
/// How long the follower waits before it looks whether everything ended.
const WAIT: Duration = Duration::from_millis(500);

/// What reached a follower: the head of its session, and when.
type Arrival = (i64, Instant);

pub(super) fn measure(scene: &Scene, server: &Server) -> Result<Vec<Figure>> {
    let quick = scene.sizes.millis < 1_000;
    let (followers, seconds) = if quick { (200, 1) } else { (10_000, 15) };
    let writer = server.store("followers", WRITERS as usize)?;
    // Another pool, another connection that listens: another process.
    let reader = open(&server.durable().url("followers"))?;
    let sessions = create(&writer, followers)?;
    server.settle("followers")?;
    let appends = RATE * seconds;
    let mut since = Since::Mark(reader.store().changes(&Since::Now, 0, Duration::ZERO)?.mark);
    let mut waiting: HashMap<SessionId, Sender<Arrival>> = HashMap::new();
    let mut followed: HashMap<SessionId, Receiver<Arrival>> = HashMap::new();
    for id in &sessions {
        let (sender, receiver) = channel();
        waiting.insert(id.clone(), sender);
        followed.insert(id.clone(), receiver);
    }
    let begun = Instant::now();
    let written = thread::scope(|scope| -> Result<Vec<(SessionId, i64, Instant)>> {
        let (done, ended) = channel::<()>();
        let store = reader.store();
        scope.spawn(move || {
            loop {
                let Ok(page) = store.changes(&since, 0, WAIT) else { return };
                let now = Instant::now();
                for change in &page.sessions {
                    if let Some(follower) = waiting.get(&change.session) {
                        let _ = follower.send((change.head_seq, now));
                    }
                }
                let is_idle = page.sessions.is_empty();
                since = Since::Mark(page.mark);
                if is_idle && ended.try_recv() == Err(std::sync::mpsc::TryRecvError::Disconnected) {
                    return;
                }
            }
        });
        let written = write(scope, &writer, &sessions, appends);
        drop(done);
        written
    })?;
    let took = begun.elapsed();
    Ok(figures(followers, &written, &followed, took, appends))
}

/// Appends one message after the other, each at its time, by several threads. Returns the session,
/// its head and the beginning of each append.
fn write<'s, 'e: 's>(
    scope: &'s thread::Scope<'s, 'e>,
    writer: &'e Engine,
    sessions: &'e [SessionId],
    appends: u32,
) -> Result<Vec<(SessionId, i64, Instant)>> {
    let start = Instant::now();
    let threads = (0..WRITERS).map(|thread| {
        scope.spawn(move || -> Result<Vec<(SessionId, i64, Instant)>> {
            let (request, mut written) = (one()?, Vec::new());
            for number in (thread..appends).step_by(WRITERS as usize) {
                let at = start + Duration::from_secs(1) * number / RATE;
                thread::sleep(at.saturating_duration_since(Instant::now()));
                let Some(id) = sessions.get(number as usize % sessions.len()) else { continue };
                let begun = Instant::now();
                written.push((id.clone(), writer.append(id, &request)?.head_seq, begun));
            }
            Ok(written)
        })
    });
    let threads: Vec<_> = threads.collect();
    let panicked = |_| Error::Wrong("a thread panicked".into());
    let mut all = Vec::new();
    for thread in threads {
        all.extend(thread.join().map_err(panicked)??);
    }
    Ok(all)
}

fn figures(
    followers: usize,
    written: &[(SessionId, i64, Instant)],
    followed: &HashMap<SessionId, Receiver<Arrival>>,
    took: Duration,
    appends: u32,
) -> Vec<Figure> {
    let mut lags = Samples::default();
    let mut missing = 0;
    let mut arrived: HashMap<&SessionId, Vec<Arrival>> = HashMap::new();
    for (id, receiver) in followed {
        arrived.insert(id, receiver.try_iter().collect());
    }
    for (id, head, begun) in written {
        let times = arrived.get(id).into_iter().flatten();
        match times.filter(|(seen, _)| seen >= head).map(|(_, at)| *at).min() {
            Some(at) => lags.add(at.saturating_duration_since(*begun)),
            None => missing += 1,
        }
    }
    let rate = f64::from(appends) / took.as_secs_f64();
    let what = |percent: &str| {
        let followers = grouped(followers);
        format!("{followers} followers, appends at {RATE}/s: {percent} from the start of an append")
    };
    let lag = |percent: usize, goal| {
        let took = lags.percentile(percent);
        let name = if percent == 50 { "median" } else { "99 of 100" };
        Figure::alone(what(name), goal, took.as_secs_f64() * 1e3, Unit::Milliseconds)
            .from(formatted(took), format!("{rate:.0} appends/s reached"))
    };
    let lost = format!("{} followers: appends that did not reach one", grouped(followers));
    vec![
        lag(50, Goal::None),
        lag(99, Goal::AtMost(100.0)),
        Figure::alone(lost, Goal::AtMost(0.0), f64::from(missing), Unit::Count),
    ]
}

fn create(engine: &Engine, sessions: usize) -> Result<Vec<SessionId>> {
    let request = forklore::engine::Create::in_workspace(workspace());
    (0..sessions).map(|_| Ok(engine.create(&request)?.id)).collect()
}
