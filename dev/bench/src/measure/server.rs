//! Measures `forklore serve` as its clients see it: readers and writers at once on both stores, a
//! stop while they work, many clients that follow one session, and the page of a large family.

mod client;
mod followers;
mod load;
mod pages;
mod serving;

use forklore::prelude::*;

use self::load::{Found, Load};
use self::serving::Serving;
use crate::error::{Error, Result};
use crate::figure::{Figure, Goal, Unit};
use crate::findings::Findings;
use crate::output;
use crate::postgres::{Server, open};
use crate::samples::{Samples, formatted};
use crate::scene::{Scene, session};
use crate::thousands::grouped;

/// The number of events of each session that is read.
const EVENTS: usize = 200;

pub(super) fn measure(scene: &Scene) -> Result<Findings> {
    let mut figures = Vec::new();
    let writers = Load::paced(scene).writers;
    let (bed, sessions) = scene.store(|engine| fill(engine, writers))?;
    let files = bed.close();
    figures.extend(on_store(scene, "SQLite", &files.url(), &sessions)?);
    let tier = Server::start(scene)?;
    let url = tier.database("served")?;
    let sessions = fill(&open(&url)?, writers)?;
    tier.settle("served")?;
    figures.extend(on_store(scene, "PostgreSQL", &url, &sessions)?);
    let serving = Serving::start(scene, &files.url())?;
    figures.extend(shown(followers::measure(scene, &serving)?));
    serving.stop()?;
    figures.extend(shown(pages::measure(scene)?));
    Ok(figures.into())
}

/// Creates a session for each writer.
fn fill(engine: &Engine, writers: usize) -> Result<Vec<SessionId>> {
    (0..writers).map(|_| session(engine, EVENTS)).collect()
}

fn shown(figures: Vec<Figure>) -> Vec<Figure> {
    figures.iter().for_each(|figure| output::result(&figure.row()));
    figures
}

/// Measures a server of a store.
fn on_store(scene: &Scene, store: &str, url: &str, sessions: &[SessionId]) -> Result<Vec<Figure>> {
    output::progress(store);
    let serving = Serving::start(scene, url)?;
    let mut figures = Vec::new();
    let (mut acknowledged, mut stopped) = (0, None);
    for load in [Load::paced(scene), Load::pressing(scene)] {
        let found = load.run(&serving.target, sessions, || Ok(()))?;
        found.is_clean()?;
        acknowledged += found.written();
        figures.extend(shown(of_load(store, &load, &found)));
    }
    let found = Load::pressing(scene).run(&serving.target, sessions, || {
        stopped = Some(serving.stop()?);
        Ok(())
    })?;
    acknowledged += found.written();
    // A request that was not answered may have been committed or not; one that was answered is there.
    let engine = open(url)?;
    let mut stored = 0;
    for session in sessions {
        stored += usize::try_from(engine.show(session)?.head_seq() + 1).unwrap_or(0) - EVENTS;
    }
    if stored < acknowledged {
        let lost = format!("{acknowledged} appends were acknowledged, and {stored} are there");
        return Err(Error::Wrong(lost));
    }
    if let Some(took) = stopped {
        let what = format!("{store}: stop by SIGTERM while all read and write");
        let seconds = took.as_secs_f64();
        let note = format!("{} acknowledged appends are all there", grouped(acknowledged));
        figures.extend(shown(vec![
            Figure::alone(what, Goal::AtMost(10.0), seconds, Unit::Seconds).from(note, ""),
        ]));
    }
    Ok(figures)
}

fn of_load(store: &str, load: &Load, found: &Found) -> Vec<Figure> {
    let pace = match load.pause.as_secs_f64() {
        0.0 => "without a pause".to_owned(),
        seconds => format!("each every {seconds:.0} s"),
    };
    let (readers, writers) = (grouped(load.readers), grouped(load.writers));
    let of = |what: &str, samples: &Samples| {
        let p99 = samples.percentile(99);
        let what =
            format!("{store}: {readers} readers and {writers} writers, {pace}: p99 of {what}");
        let median = format!("median {}", formatted(samples.median()));
        let rate = format!("{:.0}/s", samples.len() as f64 / found.time.as_secs_f64());
        Figure::alone(what, Goal::None, p99.as_secs_f64() * 1e3, Unit::Milliseconds)
            .from(median, rate)
    };
    vec![of("a read", &found.reads), of("an append", &found.writes)]
}
