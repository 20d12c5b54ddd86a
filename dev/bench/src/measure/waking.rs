//! Measures how soon a follower of the feed sees a commit. The commit comes from another handle,
//! which acts as another process.

use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use forklore::blocking;
use forklore::prelude::*;
use forklore::store::port::Since;

use crate::error::{Error, Result};
use crate::figure::{Figure, Goal, Unit};
use crate::samples::{Samples, formatted};
use crate::scene::{Scene, message, session};

/// The longest time that a follower (a reader that waits for changes of the store) waits for one
/// commit.
const WAIT: Duration = Duration::from_secs(30);

pub(super) fn measure(scene: &Scene) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for kind in ["sqlite", "files"] {
        let folder = scene.folder()?;
        let url = format!("{kind}:{}", folder.path().join("store").display());
        let open = || blocking::open(&url).map_err(|error| Error::Wrong(error.to_string()));
        let (writer, follower) = (open()?, open()?);
        let (appended, woken) = follow(scene, &writer, &follower)?;
        let figure = |what: &str, goal, percent| {
            let took = woken.percentile(percent);
            let what = format!("{kind} store, followed by another handle: {what} until a page");
            Figure::alone(what, goal, took.as_secs_f64() * 1e3, Unit::Milliseconds)
                .from(formatted(took), format!("{appended} for the append itself"))
        };
        figures.push(figure("median", Goal::AtMost(50.0), 50));
        figures.push(figure("99 of 100", Goal::None, 99));
    }
    Ok(figures)
}

/// Appends through `writer` while `follower` waits for changes of the store. Returns the durations
/// of the appends, and the times from the start of each append until the follower receives the
/// change.
fn follow(scene: &Scene, writer: &Engine, follower: &Engine) -> Result<(Samples, Samples)> {
    let id = session(writer, 10)?;
    let (mut appended, mut woken) = (Samples::default(), Samples::default());
    let (sender, pages) = channel();
    thread::scope(|scope| -> Result<()> {
        let store = follower.store();
        let mut since = Since::Mark(store.changes(&Since::Now, 0, Duration::ZERO)?.mark);
        let rounds = scene.sizes.rounds;
        scope.spawn(move || {
            while let Ok(page) = store.changes(&since, 0, WAIT) {
                since = Since::Mark(page.mark);
                let head = page.sessions.last().map(|change| change.head_seq);
                if head.is_none_or(|head| sender.send((head, Instant::now())).is_err()) {
                    return;
                }
                if head.is_some_and(|head| head >= 9 + rounds as i64) {
                    return;
                }
            }
        });
        for number in 0..rounds {
            let request = Batch::from(vec![message(number)?]);
            let start = Instant::now();
            let head = writer.append(&id, &request)?.head_seq;
            appended.add(start.elapsed());
            woken.add(seen(&pages, head)?.saturating_duration_since(start));
        }
        Ok(())
    })?;
    Ok((appended, woken))
}

/// Waits until the follower has received a change after which the session's head is at least
/// `head`. Returns the time when it received that change.
fn seen(pages: &Receiver<(i64, Instant)>, head: i64) -> Result<Instant> {
    loop {
        let (found, at) = pages.recv().map_err(|_| Error::Wrong("the follower ended".into()))?;
        if found >= head {
            return Ok(at);
        }
    }
}
