//! Measures reads of a single position, as needed to continue or show a session: the last events,
//! and any event by its number. Compares lengths of the session and depths of the family.

use std::cell::RefCell;
use std::time::Duration;

use forklore::prelude::*;
use forklore::store::port::{At, Direction, Query};

use crate::error::{Error, Result};
use crate::figure::{Figure, Goal};
use crate::numbers::Numbers;
use crate::samples::{Rival, in_turns, timed};
use crate::scene::{Bed, Scene, chain, session};
use crate::thousands::grouped;

const ROUNDS: usize = 200;

/// The number of reads that are timed together. A single read is too short to be timed.
const READS: u32 = 20;

/// A session whose reads are measured.
struct Subject<'a> {
    bed: &'a Bed,
    id: &'a SessionId,
    /// The seq of the session's last event.
    head: u64,
}

/// A function that reads events of a session at its end or at a random position. Its duration is
/// measured. The generator `Numbers` supplies the random positions.
type Reading = fn(&Subject<'_>, &mut Numbers) -> Result<()>;
const READINGS: [(&str, Reading); 2] =
    [("the last 10 events", tail), ("an event by its number", any)];

pub(super) fn measure(scene: &Scene) -> Result<Vec<Figure>> {
    let [short, long] = scene.sizes.events;
    let few = scene.session(short)?;
    let many = scene.session(long)?;
    let mut figures = compare(
        scene,
        &format!("{} events against {}", grouped(long), grouped(short)),
        [&Subject::new(&few.0, &few.1)?, &Subject::new(&many.0, &many.1)?],
    )?;
    let depth = scene.sizes.depth;
    let (bed, [flat, steep]) = scene.store(|engine| {
        let root = session(engine, 2 * depth)?;
        let flat = chain(engine, root, 1)?;
        let root = session(engine, 2)?;
        Ok([flat, chain(engine, root, depth)?])
    })?;
    figures.extend(compare(
        scene,
        &format!("depth {} against 1", grouped(depth)),
        [&Subject::new(&bed, &flat)?, &Subject::new(&bed, &steep)?],
    )?);
    Ok(figures)
}

/// Measures each kind of read on both sessions in alternation. Compares the durations for the
/// second session with those for the first.
fn compare(scene: &Scene, what: &str, subjects: [&Subject<'_>; 2]) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (name, reading) in READINGS {
        let numbers = RefCell::new(Numbers::new(11));
        let mut rivals: Vec<Rival<'_>> = Vec::new();
        for subject in subjects {
            let numbers = &numbers;
            rivals.push(Box::new(move || subject.timed(reading, &mut numbers.borrow_mut())));
        }
        let samples = in_turns(scene.rounds(ROUNDS), &mut rivals)?;
        if let [base, other] = samples.as_slice() {
            figures.push(Figure::ratio(format!("{name}: {what}"), Goal::AtMost(1.5), base, other));
        }
    }
    Ok(figures)
}

impl<'a> Subject<'a> {
    fn new(bed: &'a Bed, id: &'a SessionId) -> Result<Self> {
        let head = u64::try_from(bed.engine.show(id)?.head_seq());
        Ok(Self { bed, id, head: head.map_err(|_| Error::Wrong("an empty session".into()))? })
    }

    /// Reads [`READS`] times from the session with `reading`, and returns the average duration of
    /// one read.
    fn timed(&self, reading: Reading, numbers: &mut Numbers) -> Result<Duration> {
        let took = timed(|| (0..READS).try_for_each(|_| reading(self, numbers)))?;
        Ok(took / READS)
    }

    fn query(&self, seq: u64, limit: usize) -> Query {
        Query { at: At::Seq(seq), direction: Direction::Forward, limit, bare: false }
    }

    fn read(&self, query: &Query, expected: usize) -> Result<()> {
        let events = self.bed.engine.store().read(self.id, query)?.events;
        let bytes: usize = events.iter().map(|it| it.event.data.get().len()).sum();
        if events.len() == expected && bytes > 0 {
            return Ok(());
        }
        Err(Error::Wrong(format!("{} events, {bytes} bytes: {query:?}", events.len())))
    }
}

fn tail(subject: &Subject<'_>, _: &mut Numbers) -> Result<()> {
    let last = Query { direction: Direction::Backward, ..subject.query(subject.head, 10) };
    subject.read(&last, 10)
}

fn any(subject: &Subject<'_>, numbers: &mut Numbers) -> Result<()> {
    let seq = numbers.below(usize::try_from(subject.head).unwrap_or(usize::MAX)) as u64;
    subject.read(&subject.query(seq, 1), 1)
}
