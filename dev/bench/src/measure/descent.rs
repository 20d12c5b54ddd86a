//! Measures forks of forks: the cost of a fork by the depth of its family, for forklore and the
//! peers.

use forklore::prelude::*;

use super::fork::Forks;
use super::peers::{FORKLORE, start};
use crate::chart::{Chart, Scale};
use crate::error::Result;
use crate::findings::Findings;
use crate::peer::KINDS;
use crate::samples::{Rival, in_turns};
use crate::scene::{Scene, chain, session};

/// The number of measured forks for each depth of the forked session (its number of ancestors).
const ROUNDS: usize = 40;

/// The number of messages of the root session from which the chain of forks starts. They are two
/// turns, because one of the compared libraries needs a turn before a branch.
const MESSAGES: usize = 4;

/// Measures forks of sessions with different numbers of ancestors. Each fork in a chain adds one
/// turn, so that a session with many ancestors is also a long one.
pub(super) fn measure(scene: &Scene) -> Result<Findings> {
    let mut chart = Chart {
        name: "fork-depth",
        title: "A fork, durable, against the depth of its family",
        across: "forks of forks above it, a turn each",
        up: "time of a fork",
        unit: Scale::Time,
        lines: Vec::new(),
    };
    let dir = scene.folder()?;
    let peers = start(scene, dir.path(), MESSAGES)?;
    own(scene, &mut chart)?;
    let mut above = 0;
    // The peers copy all ancestors, so a chain of a thousand links would take them minutes.
    for depth in scene.sizes.depths.into_iter().filter(|depth| *depth <= scene.sizes.patience) {
        let mut rivals: Vec<Rival<'_>> = Vec::new();
        for peer in &peers {
            peer.borrow_mut().deepen(depth - above)?;
            rivals.push(Box::new(move || peer.borrow_mut().fork()));
        }
        above = depth;
        let samples = in_turns(scene.rounds(ROUNDS), &mut rivals)?;
        for (kind, took) in KINDS.iter().zip(&samples) {
            chart.took(kind.name, depth, took);
        }
    }
    Ok(Findings::default().with(chart))
}

/// Measures forklore's forks and adds them to the chart as a line, with one point per number of
/// ancestors. The points are measured in alternation, so that a disturbance of the machine affects
/// all of them.
fn own(scene: &Scene, chart: &mut Chart) -> Result<()> {
    let depths = scene.sizes.depths;
    let made = depths.map(|depth| {
        scene.store(|engine| {
            let root = session(engine, MESSAGES)?;
            chain(engine, root, depth)
        })
    });
    let made = made.into_iter().collect::<Result<Vec<_>>>()?;
    let mut forks: Vec<_> =
        made.iter().map(|(bed, id)| Forks::of(bed, id, &Selector::End)).collect();
    let mut rivals: Vec<Rival<'_>> = Vec::new();
    for forks in &mut forks {
        rivals.push(Box::new(|| forks.make()));
    }
    let samples = in_turns(scene.rounds(ROUNDS), &mut rivals)?;
    for (depth, took) in depths.into_iter().zip(&samples) {
        chart.took(FORKLORE, depth, took);
    }
    Ok(())
}
