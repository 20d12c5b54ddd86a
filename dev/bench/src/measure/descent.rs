//! Forks of forks: what a fork costs the deeper its family is, by the peers too.

use forklore::prelude::*;

use super::fork::Forks;
use super::peers::{FORKLORE, start};
use crate::chart::{Chart, Scale};
use crate::error::Result;
use crate::findings::Findings;
use crate::peer::KINDS;
use crate::samples::{Rival, in_turns};
use crate::scene::{Scene, chain, session};

/// How often a fork is taken at each depth.
const ROUNDS: usize = 40;

/// The messages of the root: two turns, since a branch of one peer needs a turn before it.
const MESSAGES: usize = 4;

/// Each link of every chain has a turn of its own, so a deep session is a long one too.
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
    // They copy what is above; a thousand links would take them minutes.
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

/// Forklore's own line: all depths in turns, so that what the machine does meets all of them.
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
