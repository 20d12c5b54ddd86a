//! Compares forks of a long session with forks of a short session, and measures what a fork writes.

use forklore::prelude::*;

use super::fork::Forks;
use crate::error::Result;
use crate::figure::{Figure, Goal, Unit};
use crate::samples::pair;
use crate::scene::{Bed, Scene, middle, session};
use crate::thousands::grouped;

pub(super) fn measure(scene: &Scene) -> Result<Vec<Figure>> {
    let [short, long] = scene.sizes.events;
    let few = scene.store(|engine| session(engine, short))?;
    let many = scene.session(long)?;
    let mut figures = Vec::new();
    let mut costs = (Vec::new(), Vec::new());
    for (location, at) in [("`end`", None), ("a turn in the middle", Some(middle))] {
        let selector = |(bed, id): &(Bed, SessionId)| match at {
            Some(at) => at(&bed.engine, id),
            None => Ok(Selector::End),
        };
        let mut base = Forks::of(&few.0, &few.1, &selector(&few)?);
        let mut measured = Forks::of(&many.0, &many.1, &selector(&many)?);
        let (short_took, long_took) = pair(scene.sizes.rounds, || base.make(), || measured.make())?;
        let what = format!(
            "fork at {location}: parent of {} events against {}",
            grouped(long),
            grouped(short)
        );
        figures.push(Figure::ratio(what, Goal::AtMost(1.2), &short_took, &long_took));
        costs.0.extend(measured.bytes);
        costs.1.extend(measured.pages);
    }
    figures.extend(written(long, costs.0, costs.1));
    Ok(figures)
}

/// Returns figures of what a fork writes into the store: the largest number of data bytes, and the
/// median number of pages. `bytes` and `pages` contain one number per fork of a session with
/// `events` events.
fn written(events: usize, bytes: Vec<u64>, mut pages: Vec<u32>) -> Vec<Figure> {
    let events = grouped(events);
    let most = bytes.into_iter().max().unwrap_or_default();
    pages.sort_unstable();
    let median = pages.get(pages.len() / 2).copied();
    let data = Figure::alone(
        format!("data of a fork, the most of all: parent of {events} events"),
        Goal::AtMost(1_023.0),
        most as f64,
        Unit::Bytes,
    );
    let pages = median.map(|median| {
        let what = format!("pages written by a fork, median: parent of {events} events");
        Figure::alone(what, Goal::None, f64::from(median), Unit::Pages)
    });
    std::iter::once(data).chain(pages).collect()
}
