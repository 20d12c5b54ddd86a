//! Measures a durable append, compared with the minimum cost of durability: a line written to a
//! file, and a sync.

use std::fs::File;
use std::io::Write;

use forklore::prelude::*;

use crate::error::{Doing, Result};
use crate::figure::{Figure, Goal};
use crate::samples::{pair, timed};
use crate::scene::{Scene, message, session};

pub(super) fn measure(scene: &Scene) -> Result<Vec<Figure>> {
    let (bed, id) = scene.store(|engine| session(engine, 10))?;
    let dir = scene.folder()?;
    let path = dir.path().join("session.jsonl");
    let mut file =
        File::options().create(true).append(true).open(&path).doing("cannot make", &path)?;
    let event = message(0)?;
    let line = format!("{}\n", event.data.get());
    let request = Batch::from(vec![event]);
    let (plain, durable) = pair(
        5 * scene.sizes.rounds,
        || {
            timed(|| {
                let written = file.write_all(line.as_bytes()).and_then(|()| file.sync_data());
                written.doing("cannot write", &path)
            })
        },
        || timed(|| Ok(bed.engine.append(&id, &request)?)),
    )?;
    let what = "durable append of 1 KB against a line to a file and fdatasync";
    Ok(vec![Figure::ratio(what, Goal::AtMost(1.25), &plain, &durable)])
}
