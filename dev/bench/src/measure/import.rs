//! Measures imports of session files: their speed and memory use.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use crate::error::{Doing, Error, Result};
use crate::figure::{Figure, Goal, Unit};
use crate::process::Program;
use crate::samples::{Samples, formatted};
use crate::scene::Scene;
use crate::thousands::grouped;
use crate::transcript::Transcript;

/// The numbers of imports of the small and of the large file. The small file is imported
/// repeatedly, to show the spread of the durations.
const ROUNDS: [usize; 2] = [3, 1];

/// The name of a generated session file.
pub(super) const FILE: &str = "4a9e7c10-5b7d-4c55-9d0e-2f6a1c8b3d24.jsonl";

/// The results of importing one generated file, possibly several times.
#[derive(Default)]
struct Imported {
    bytes: u64,
    took: Samples,
    /// The processor time of each import. Empty if the system does not report it.
    worked: Samples,
    on_one_core: bool,
    /// The peak anonymous memory (without mapped files) of all imports of this file, in bytes.
    /// `None` if the system does not report it.
    anonymous: Option<u64>,
}

pub(super) fn measure(scene: &Scene) -> Result<Vec<Figure>> {
    let mut imported = Vec::new();
    for (bytes, rounds) in scene.sizes.imports.into_iter().zip(ROUNDS) {
        imported.push(import(scene, bytes, rounds)?);
    }
    let mut figures: Vec<_> = imported.iter().map(Imported::speed).collect();
    if let [small, large] = imported.as_slice() {
        figures.extend(memory(small, large));
    }
    Ok(figures)
}

/// Generates a session file of about `bytes` bytes and imports it `rounds` times, each time into a
/// new store.
fn import(scene: &Scene, bytes: u64, rounds: usize) -> Result<Imported> {
    let dir = scene.folder()?;
    let file = dir.path().join(FILE);
    let written = write(&file, bytes)?;
    let mut imported = Imported { bytes: written, ..Imported::default() };
    for _ in 0..rounds {
        let store = scene.folder()?;
        let program = Program::forklore(store.path())?.on_one_core();
        imported.on_one_core = program.is_on_one_core();
        let url = format!("--store=sqlite:{}", store.path().join("store.db").display());
        let ended = program.watched(&[&url, "import", &file.to_string_lossy()])?;
        imported.took.add(ended.took);
        ended.worked.into_iter().for_each(|worked| imported.worked.add(worked));
        imported.anonymous = imported.anonymous.max(ended.anonymous);
        check(store.path(), written)?;
    }
    Ok(imported)
}

/// Writes a generated session file of about `bytes` bytes and returns its exact size.
pub(super) fn write(file: &Path, bytes: u64) -> Result<u64> {
    let mut lines = BufWriter::new(File::create(file).doing("cannot make", file)?);
    let mut transcript = Transcript::new();
    let mut written = 0;
    while written < bytes {
        let line = transcript.next_line();
        lines.write_all(line.as_bytes()).doing("cannot write", file)?;
        written += line.len() as u64;
    }
    let done = lines.into_inner().map_err(std::io::IntoInnerError::into_error);
    done.and_then(|done| done.sync_all()).doing("cannot write", file)?;
    Ok(written)
}

/// Checks that the import was done: the files of the store must be at least as large as the
/// imported file.
fn check(store: &Path, written: u64) -> Result<()> {
    let mut resident = 0;
    for file in fs::read_dir(store).doing("cannot list", store)? {
        let length = file.and_then(|file| file.metadata()).map(|file| file.len());
        resident += length.doing("cannot list", store)?;
    }
    if resident >= written {
        return Ok(());
    }
    Err(Error::Wrong(format!("{} holds {resident} bytes of {written}", store.display())))
}

impl Imported {
    fn name(&self) -> String {
        format!("{} MB", grouped(usize::try_from(self.bytes / 1_000_000).unwrap_or(usize::MAX)))
    }

    fn speed(&self) -> Figure {
        let rate = |samples: &Samples| {
            let seconds = samples.median().max(Duration::from_micros(1)).as_secs_f64();
            self.bytes as f64 / 1e6 / seconds
        };
        let cores = if self.on_one_core { "on one core" } else { "on every core" };
        let what = format!("import of a Claude Code file of {}, {cores}", self.name());
        let worked = if self.worked.median().is_zero() {
            String::new()
        } else {
            let time = formatted(self.worked.median());
            format!("{time} of processor time, {:.0} MB/s", rate(&self.worked))
        };
        let goal = Goal::AtLeast(200.0);
        Figure::alone(what, goal, rate(&self.took), Unit::MegabytesPerSecond)
            .from(formatted(self.took.median()), worked)
    }
}

/// Returns the peak memory of the import of the large file, divided by that of the small file.
fn memory(small: &Imported, large: &Imported) -> Option<Figure> {
    let (base, more) = (small.anonymous?, large.anonymous?);
    let what = format!("peak RssAnon of the import of {} against {}", large.name(), small.name());
    let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    let figure = Figure::alone(what, Goal::AtMost(1.2), more as f64 / base as f64, Unit::Times);
    Some(figure.from(megabytes(more), megabytes(base)))
}
