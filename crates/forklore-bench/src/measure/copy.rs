//! What agents do today: a fork is a copy of the session's file.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use forklore::prelude::*;

use super::fork::Forks;
use super::grouped;
use crate::error::{Doing, Result};
use crate::figure::{Figure, Goal};
use crate::samples::{pair, timed};
use crate::scene::{Bed, Scene, message};

/// Copies a file of the same messages, in turns with forks of the session.
pub(super) fn measure(
    scene: &Scene,
    bed: &Bed,
    session: &SessionId,
    events: usize,
) -> Result<Figure> {
    let dir = scene.folder()?;
    let (file, copy) = (dir.path().join("session.jsonl"), dir.path().join("copy.jsonl"));
    write(&file, events)?;
    let mut forks = Forks::of(bed, session, &Selector::End);
    // A long file takes seconds to copy, and needs no more than that to be told from a fork.
    let rounds = (1_000_000 / events).clamp(3, scene.sizes.rounds / 4 + 3);
    let (fork_took, copy_took) = pair(
        rounds,
        || forks.make(),
        || {
            let took = timed(|| copy_durably(&file, &copy))?;
            fs::remove_file(&copy).doing("cannot remove", &copy)?;
            Ok(took)
        },
    )?;
    let what = format!("copying a file of {} events, against a fork there", grouped(events));
    Ok(Figure::ratio(what, Goal::None, &fork_took, &copy_took))
}

fn copy_durably(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).doing("cannot copy", from)?;
    File::open(to).and_then(|copy| copy.sync_data()).doing("cannot sync", to)
}

/// One line a message, as agents write them.
fn write(file: &Path, events: usize) -> Result<()> {
    let mut lines = BufWriter::new(File::create(file).doing("cannot make", file)?);
    for number in 0..events {
        let event = message(number)?;
        writeln!(lines, r#"{{"type":"{}","data":{}}}"#, event.kind, event.data.get())
            .doing("cannot write", file)?;
    }
    let written = lines.into_inner().map_err(std::io::IntoInnerError::into_error);
    written.and_then(|written| written.sync_all()).doing("cannot write", file)
}
