//! The space that a session takes, against its payloads alone.

use forklore::model::Data;
use forklore::model::EventType;
use forklore::model::limits::BATCH_EVENTS;
use forklore::prelude::*;

use super::grouped;
use crate::error::{Error, Result};
use crate::figure::{Figure, Goal, Unit};
use crate::prose::Prose;
use crate::scene::{Scene, workspace};

/// The bytes of a payload.
const PAYLOAD: usize = 1_024;

pub(super) fn measure(scene: &Scene) -> Result<Vec<Figure>> {
    let events = scene.sizes.stored;
    let (bed, _) = scene.store(|engine| write(engine, events))?;
    // As a file of lines: no ids, no times, no types.
    let raw = (events * (PAYLOAD + 1)) as f64;
    let stored = bed.close().size()? as f64;
    let megabytes = |bytes: f64| format!("{:.1} MB", bytes / 1e6);
    let what = format!("store of {} events of 1 KB against their payloads", grouped(events));
    let figure = Figure::alone(what, Goal::AtMost(1.1), stored / raw, Unit::Times);
    Ok(vec![figure.from(megabytes(stored), megabytes(raw))])
}

/// A session of prose and code.
fn write(engine: &Engine, events: usize) -> Result<SessionId> {
    let id = engine.create(&Create::in_workspace(workspace()))?.id;
    let mut prose = Prose::new();
    let kinds = [EventType::USER_MESSAGE, EventType::ASSISTANT_MESSAGE];
    let mut kinds = kinds.into_iter().cycle();
    let mut left = events;
    while left > 0 {
        let count = left.min(BATCH_EVENTS);
        let batch = kinds.by_ref().take(count).map(|kind| {
            let data = Data::parse(&prose.payload(PAYLOAD));
            let data = data.map_err(|error| Error::Wrong(error.to_string()))?;
            Ok(NewEvent::new(kind, data))
        });
        engine.append(&id, &batch.collect::<Result<Vec<_>>>()?.into())?;
        left -= count;
    }
    Ok(id)
}
