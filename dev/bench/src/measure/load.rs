//! Measures complete reads of a session, compared with the minimum: raw records mapped into memory.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use forklore::engine::LogRange;
use forklore::prelude::*;
use forklore::store::port::At;
use serde::Deserialize;
use serde_json::value::RawValue;
use tempfile::TempDir;

use crate::chart::{Chart, Scale};
use crate::error::{Doing, Error, Result};
use crate::figure::{Figure, Goal};
use crate::findings::Findings;
use crate::raw::{Raw, Seen};
use crate::samples::{Rival, in_turns, timed};
use crate::scene::{Bed, Scene, session};
use crate::thousands::grouped;

/// The approximate number of events that are read for one session length, in all its loads
/// together. A short session is therefore loaded more often than a long one.
const EVENTS: usize = 2_000_000;

/// The compared ways to read a session. The first is the least that any store must do; the others
/// are compared with it. The promised limit applies to the second.
const WAYS: [&str; 4] = [
    "raw records, mapped",
    "forklore, as a stream",
    "forklore, into a list",
    "JSONL, envelopes parsed",
];

pub(super) fn measure(scene: &Scene) -> Result<Findings> {
    let mut chart = Chart {
        name: "load-length",
        title: "A session read whole, against its length",
        across: "events of 1 KB in the session",
        up: "time of a load",
        unit: Scale::Time,
        lines: Vec::new(),
    };
    let mut figures = Vec::new();
    for (at, events) in scene.sizes.loads.into_iter().enumerate() {
        let goal = match at {
            3 => Some(Goal::AtMost(1.2)),
            5 => Some(Goal::AtMost(1.5)),
            _ => None,
        };
        let samples = Subject::new(scene, events)?.read(scene)?;
        let mut ways: Vec<_> = WAYS.into_iter().zip(&samples).collect();
        // Forklore comes first in every chart, so that it always has the same colour.
        ways.sort_by_key(|(name, _)| !name.starts_with("forklore"));
        for (name, took) in ways {
            chart.took(name, events, took);
        }
        if let (Some(goal), [raw, others @ ..]) = (goal, samples.as_slice()) {
            let names = WAYS.into_iter().skip(1).zip([goal, Goal::None, Goal::None]);
            figures.extend(names.zip(others).map(|((name, goal), took)| {
                let what =
                    format!("load of {} events against {}: {name}", grouped(events), WAYS[0]);
                Figure::ratio(what, goal, raw, took)
            }));
        }
    }
    Ok(Findings::from(figures).with(chart))
}

/// One session in three forms that are read for comparison: in a store, as a file of payloads with
/// checksums, and as JSON lines.
struct Subject {
    bed: Bed,
    id: SessionId,
    raw: Raw,
    lines: PathBuf,
    /// The number of events and bytes that each way of reading the session must find.
    seen: Seen,
    _dir: TempDir,
}

impl Subject {
    fn new(scene: &Scene, events: usize) -> Result<Self> {
        let (bed, id) = scene.store(|engine| session(engine, events))?;
        let dir = scene.folder()?;
        let (records, lines) = (dir.path().join("records"), dir.path().join("session.jsonl"));
        let payloads = bed.engine.events(&id, At::Seq(0));
        let raw = Raw::write(&records, payloads.map(|it| Ok(it?.event.data.get().to_owned())))?;
        let mut file = File::create(&lines).doing("cannot make", &lines)?;
        bed.engine.log(&id, LogRange::default(), &mut file)?;
        let seen = raw.walk()?;
        if seen.events != events {
            return Err(Error::Wrong(format!("{} events, not {events}", seen.events)));
        }
        Ok(Self { bed, id, raw, lines, seen, _dir: dir })
    }

    /// Reads the session in each of the compared ways, in alternation. Returns the durations, per
    /// way.
    fn read(&self, scene: &Scene) -> Result<Vec<crate::samples::Samples>> {
        let timed = |read: &dyn Fn() -> Result<Seen>| self.timed(read);
        let mut rivals: [Rival<'_>; 4] = [
            Box::new(|| timed(&|| self.raw.walk())),
            Box::new(|| timed(&|| stream(&self.bed.engine, &self.id))),
            Box::new(|| timed(&|| list(&self.bed.engine, &self.id))),
            Box::new(|| timed(&|| lines(&self.lines))),
        ];
        let rounds = (EVENTS / self.seen.events).clamp(11, 200);
        in_turns(scene.rounds(rounds), &mut rivals)
    }

    fn timed(&self, read: &dyn Fn() -> Result<Seen>) -> Result<Duration> {
        timed(|| {
            let seen = read()?;
            if seen == self.seen {
                return Ok(());
            }
            Err(Error::Wrong(format!("{seen:?} read of {:?}", self.seen)))
        })
    }
}

/// Reads a session one event at a time, in constant memory. Returns the numbers of events and
/// bytes.
pub(super) fn stream(engine: &Engine, id: &SessionId) -> Result<Seen> {
    let mut seen = Seen::default();
    for stored in engine.events(id, At::Seq(0)) {
        seen.payload(stored?.event.data.get());
    }
    Ok(seen)
}

fn list(engine: &Engine, id: &SessionId) -> Result<Seen> {
    let mut seen = Seen::default();
    for stored in engine.load(id)?.events {
        seen.payload(stored.event.data.get());
    }
    Ok(seen)
}

/// Reads a JSONL file as an agent reads its own session file. Parses the envelope (the id and the
/// seq) of each line, and leaves the payload unparsed.
fn lines(file: &Path) -> Result<Seen> {
    #[derive(Deserialize)]
    struct Envelope<'a> {
        #[serde(borrow)]
        data: &'a RawValue,
        #[serde(borrow)]
        id: &'a str,
        seq: u64,
    }
    let text = fs::read_to_string(file).doing("cannot read", file)?;
    let mut seen = Seen::default();
    for line in text.lines() {
        let envelope: Envelope<'_> =
            serde_json::from_str(line).map_err(|error| Error::Wrong(error.to_string()))?;
        std::hint::black_box((envelope.id, envelope.seq));
        seen.payload(envelope.data.get());
    }
    Ok(seen)
}
