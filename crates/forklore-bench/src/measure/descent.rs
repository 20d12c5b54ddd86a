//! Forks of forks: what a fork costs the deeper its family is, by the peers too.

use forklore::prelude::*;

use super::fork::Forks;
use super::peers::{FORKLORE, rivals, start};
use crate::chart::{Chart, Scale};
use crate::error::Result;
use crate::findings::Findings;
use crate::peer::{KINDS, Peer};
use crate::samples::in_turns;
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
    let mut above = 0;
    for depth in scene.sizes.depths {
        let (bed, id) = scene.store(|engine| {
            let root = session(engine, MESSAGES)?;
            chain(engine, root, depth)
        })?;
        let mut forks = Forks::of(&bed, &id, &Selector::End);
        // The peers copy what is above; a thousand links would take them minutes.
        let patient = if depth <= scene.sizes.patience { peers.as_slice() } else { &[] };
        for peer in patient {
            peer.borrow_mut().deepen(depth - above)?;
        }
        above = depth;
        let mut rivals = rivals(Box::new(|| forks.make()), patient, Peer::fork);
        let samples = in_turns(scene.rounds(ROUNDS), &mut rivals)?;
        let names = std::iter::once(FORKLORE).chain(KINDS.map(|kind| kind.name));
        for (name, took) in names.zip(&samples) {
            chart.took(name, depth, took);
        }
    }
    Ok(Findings::default().with(chart))
}
