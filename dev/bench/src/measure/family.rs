//! Measures forks in deep families, and forks of sessions that already have many children.

use forklore::Engine;
use forklore::prelude::*;

use super::fork::Forks;
use crate::error::Result;
use crate::figure::{Figure, Goal};
use crate::samples::pair;
use crate::scene::{Scene, chain, middle, session};
use crate::thousands::grouped;

pub(super) fn measure(scene: &Scene) -> Result<Vec<Figure>> {
    let mut figures = depth(scene)?;
    figures.extend(siblings(scene)?);
    Ok(figures)
}

/// Compares forks of a deep parent (with many ancestors) and of a shallow one, both with the same
/// number of events. The history of the deep parent is stored in as many pieces as it has
/// ancestors.
fn depth(scene: &Scene) -> Result<Vec<Figure>> {
    let depth = scene.sizes.depth;
    let (flat, shallow) = scene.store(|engine| {
        let root = session(engine, 2 * depth)?;
        chain(engine, root, 1)
    })?;
    let (steep, deep) = scene.store(|engine| {
        let root = session(engine, 2)?;
        chain(engine, root, depth)
    })?;
    let mut figures = Vec::new();
    for cut in ["`end`", "a turn in the middle"] {
        let at = |engine: &Engine, id: &SessionId| {
            if cut == "`end`" { Ok(Selector::End) } else { middle(engine, id) }
        };
        let mut base = Forks::of(&flat, &shallow, &at(&flat.engine, &shallow)?);
        let mut measured = Forks::of(&steep, &deep, &at(&steep.engine, &deep)?);
        let (base, measured) = pair(scene.sizes.rounds, || base.make(), || measured.make())?;
        let what = format!("fork at {cut}: parent at depth {} against 1", grouped(depth));
        figures.push(Figure::ratio(what, Goal::AtMost(1.2), &base, &measured));
    }
    Ok(figures)
}

/// Compares forks of a parent that has many children with forks of parents that have none. Each
/// childless parent is forked only once.
fn siblings(scene: &Scene) -> Result<Vec<Figure>> {
    let (rounds, siblings) = (scene.sizes.rounds, scene.sizes.siblings);
    let parents = 2 * (rounds + rounds / 10);
    let (silent, childless) = scene
        .store(|engine| (0..parents).map(|_| session(engine, 10)).collect::<Result<Vec<_>>>())?;
    let (crowded, parent) = scene.store(|engine| {
        let parent = session(engine, 10)?;
        let request = Fork::of(parent.clone());
        for _ in 0..siblings {
            engine.fork(&request)?;
        }
        Ok(parent)
    })?;
    let mut figures = Vec::new();
    let mut childless = childless.iter();
    for (location, at) in [("`end`", Selector::End), ("a turn in the middle", Selector::Turn(3))] {
        let mut base = Forks::of(&silent, &parent, &at);
        let mut measured = Forks::of(&crowded, &parent, &at);
        let alone = || {
            if let Some(next) = childless.next() {
                base.turn_to(next);
            }
            base.make()
        };
        let (base, measured) = pair(rounds, alone, || measured.make())?;
        let what =
            format!("fork at {location}: parent with {} children against none", grouped(siblings));
        figures.push(Figure::ratio(what, Goal::AtMost(1.2), &base, &measured));
    }
    Ok(figures)
}
