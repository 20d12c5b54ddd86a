//! Which snapshots belong to a cut.

use forklore_core::{Header, Selector};
use forklore_engine::Engine;
use forklore_store::port::{At, Direction, Query};

use crate::Result;

/// Returns the last position whose snapshot belongs to a cut. `None` if none does.
///
/// The snapshots between two messages show the files after the first one, so they belong to a cut
/// after it. Only a cut that names a position or an event ends exactly there.
pub(crate) fn last_position(
    engine: &Engine,
    header: &Header,
    at: &Selector,
) -> Result<Option<u64>> {
    let cut = engine.cut(header, at)?;
    if matches!(at, Selector::Seq(_) | Selector::Event(_)) {
        return Ok(cut.seq);
    }
    let at = At::Index(cut.index);
    let query = Query { at, direction: Direction::Forward, limit: 1, bare: true };
    let page = engine.store().read(&header.id, &query).map_err(forklore_engine::Error::from)?;
    Ok(page.events.first().map_or(Some(u64::MAX), |next| next.seq.checked_sub(1)))
}
