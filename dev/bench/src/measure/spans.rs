//! Measures loads of a history in many segments. The same number of events is in one session, or
//! spread over chains of forks.

use std::time::Duration;

use forklore::prelude::*;

use super::load::stream;
use crate::chart::{Chart, Scale};
use crate::error::{Error, Result};
use crate::figure::{Figure, Goal};
use crate::findings::Findings;
use crate::samples::{Rival, Samples, in_turns, timed};
use crate::scene::{Bed, Scene, extend, session};
use crate::thousands::grouped;

const ROUNDS: usize = 100;

/// A chain of `depth` forks, with promised limits for loads of its last session. There is one limit
/// before `pack` (which joins the pieces of a deep history), and one after it.
struct Chain {
    depth: usize,
    as_forked: Goal,
    packed: Goal,
}

const CHAINS: [Chain; 4] = [
    Chain { depth: 8, as_forked: Goal::None, packed: Goal::None },
    Chain { depth: 32, as_forked: Goal::AtMost(2.0), packed: Goal::None },
    Chain { depth: 200, as_forked: Goal::None, packed: Goal::None },
    Chain { depth: 1_000, as_forked: Goal::None, packed: Goal::AtMost(1.3) },
];

pub(super) fn measure(scene: &Scene) -> Result<Findings> {
    let events = scene.sizes.spanned;
    let chains: Vec<_> = CHAINS.into_iter().filter(|chain| chain.depth <= events / 5).collect();
    let (bed, ids) = scene.store(|engine| {
        let depths = std::iter::once(0).chain(chains.iter().map(|chain| chain.depth));
        depths.map(|depth| pieces(engine, events, depth)).collect::<Result<Vec<_>>>()
    })?;
    let before = load(scene, &bed, &ids, events)?;
    // No session is idle for long enough to be compressed. `pack` joins the spans of deep histories
    // whatever their age.
    bed.engine.pack(Duration::MAX)?;
    let after = load(scene, &bed, &ids, events)?;
    let mut chart = Chart {
        name: "load-depth",
        title: "5,000 events read whole, against the number of forks they are spread over",
        across: "depth of the fork that is read (1: not forked)",
        up: "time of a load",
        unit: Scale::Time,
        lines: Vec::new(),
    };
    let mut figures = Vec::new();
    for (how, samples) in [("as forked", before), ("after pack", after)] {
        let depths = std::iter::once(1).chain(chains.iter().map(|chain| chain.depth));
        for (depth, took) in depths.zip(&samples) {
            chart.took(how, depth, took);
        }
        if let [whole, others @ ..] = samples.as_slice() {
            figures.extend(chains.iter().zip(others).map(|(chain, took)| {
                let (events, depth) = (grouped(events), grouped(chain.depth));
                let what = format!(
                    "load of {events} events, {depth} forks deep, {how}, against one session"
                );
                let goal = if how == "as forked" { chain.as_forked } else { chain.packed };
                Figure::ratio(what, goal, whole, took)
            }));
        }
    }
    Ok(Findings::from(figures).with(chart))
}

/// Creates a history of `events` messages, spread evenly over a root and a chain of `depth` forks.
/// Returns the last fork.
fn pieces(engine: &Engine, events: usize, depth: usize) -> Result<SessionId> {
    let part = |number: usize| number * events / (depth + 1);
    let mut last = session(engine, part(1))?;
    for number in 1..=depth {
        last = engine.fork(&Fork::of(last))?.child_session_id;
        extend(engine, &last, part(number)..part(number + 1))?;
    }
    Ok(last)
}

/// Loads each of the sessions repeatedly and returns the durations, per session. The sessions are
/// loaded in alternation.
fn load(scene: &Scene, bed: &Bed, ids: &[SessionId], events: usize) -> Result<Vec<Samples>> {
    let read = |id: &SessionId| -> Result<Duration> {
        timed(|| {
            // A child has one event more: its own `session_fork`.
            let seen = stream(&bed.engine, id)?.events;
            if (events..=events + 1).contains(&seen) {
                return Ok(());
            }
            Err(Error::Wrong(format!("{seen} events read of {events}")))
        })
    };
    let mut rivals: Vec<Rival<'_>> = Vec::new();
    for id in ids {
        rivals.push(Box::new(move || read(id)));
    }
    in_turns(scene.rounds(ROUNDS), &mut rivals)
}
