//! Measures the first list that a user sees: the newest of very many sessions.

use forklore::engine::ListRequest;

use crate::error::{Error, Result};
use crate::figure::{Figure, Goal, Unit};
use crate::samples::{Samples, timed};
use crate::scene::{Bed, Scene};
use crate::thousands::grouped;

const NEWEST: usize = 50;
const ROUNDS: usize = 100;

/// Lists the newest of the `sessions` sessions in a store repeatedly. Returns the median duration,
/// with its promised limit.
pub(super) fn measure(scene: &Scene, bed: &Bed, sessions: usize) -> Result<Figure> {
    let request = ListRequest { limit: NEWEST, ..ListRequest::default() };
    let mut took = Samples::default();
    for _ in 0..scene.rounds(ROUNDS) {
        took.add(timed(|| {
            let listed = bed.engine.list(&request)?.sessions.len();
            if listed == NEWEST.min(sessions) {
                return Ok(());
            }
            Err(Error::Wrong(format!("{listed} sessions listed")))
        })?);
    }
    let what = format!("the newest {NEWEST} of {} sessions, in the library", grouped(sessions));
    let median = took.median().as_secs_f64() * 1e3;
    let figure = Figure::alone(what, Goal::AtMost(5.0), median, Unit::Milliseconds);
    Ok(figure.from(took.to_string(), ""))
}
