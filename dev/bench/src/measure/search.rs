//! Measures the search index: how fast it reads sessions, how soon it answers, and what it costs an
//! import.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use forklore::blocking;
use forklore::core::Role;
use forklore::core::limits::BATCH_EVENTS;
use forklore::prelude::*;
use forklore::search::{HitKind, Search, SearchIndex};

use super::import;
use crate::corpus::{Corpus, name};
use crate::error::{Error, Result};
use crate::figure::{Figure, Goal, Unit};
use crate::process::{Program, worked};
use crate::samples::{Samples, formatted};
use crate::scene::{Files, Scene, workspace};
use crate::thousands::grouped;

/// The number of times that each query is answered.
const QUERIED: usize = 40;
/// The number of imports with and without an index.
const IMPORTED: usize = 2;
/// The pause between two searches of a follower.
const PAUSE: Duration = Duration::from_millis(10);
/// A word that no session contains.
const NOWHERE: &str = "nonexistent";
/// The longest time that an answer may take, in milliseconds.
const ANSWERED: f64 = 50.0;
/// The ranks of names that are in some ten thousand, some thousand and a few messages of 1 GB.
const OFTEN: usize = 20;
const SOMETIMES: usize = 400;
const SELDOM: usize = 40_000;

pub(super) fn measure(scene: &Scene) -> Result<Vec<Figure>> {
    let (files, bytes) = fill(scene)?;
    let sessions = grouped(scene.sizes.searched.0);
    let of = format!("{} MB in {sessions} sessions", grouped((bytes / 1_000_000) as usize));
    let url = files.url();
    let mut figures = vec![first(&url, &of, bytes)?];
    let engine = open(&url)?;
    for (what, request) in requests() {
        figures.push(answers(scene, &engine, &of, what, &request)?);
    }
    drop((engine, files));
    figures.extend(followed_imports(scene)?);
    Ok(figures)
}

fn open(url: &str) -> Result<Engine> {
    blocking::open(url).map_err(|error| Error::Wrong(error.to_string()))
}

/// Creates a store of many sessions, and returns its files and the size of all payloads.
fn fill(scene: &Scene) -> Result<(Files, u64)> {
    let (sessions, bytes) = scene.sizes.searched;
    let (bed, written) = scene.store(|engine| {
        let mut corpus = Corpus::new();
        let mut written = 0;
        for number in 1..=sessions as u64 {
            let title = Some(corpus.title());
            let create = Create { title, ..Create::in_workspace(workspace()) };
            let session = engine.create(&create)?.id;
            let until = bytes / sessions as u64 * number;
            while written < until {
                let mut events = Vec::new();
                while written < until && events.len() < BATCH_EVENTS {
                    let (event, bytes) = corpus.event()?;
                    written += bytes;
                    events.push(event);
                }
                engine.append(&session, &events.into())?;
            }
        }
        Ok(written)
    })?;
    Ok((bed.close(), written))
}

/// Measures the first search, which reads all sessions.
fn first(url: &str, of: &str, bytes: u64) -> Result<Figure> {
    let engine = open(url)?;
    let (start, work) = (Instant::now(), Work::begin());
    SearchIndex::of(&engine).search(&Search::of(NOWHERE))?;
    let took = start.elapsed();
    let rate = |took: Duration| bytes as f64 / 1e6 / took.as_secs_f64().max(1e-6);
    let time = work.end().map_or(String::new(), |time| {
        format!("{} of processor time, {:.0} MB/s", formatted(time), rate(time))
    });
    let what = format!("the index reads {of}");
    let figure = Figure::alone(what, Goal::AtLeast(50.0), rate(took), Unit::MegabytesPerSecond);
    Ok(figure.from(formatted(took), time))
}

/// The processor time of this process up to a moment. `None` if the system does not report it.
struct Work(Option<Duration>);

impl Work {
    fn begin() -> Self {
        Self(worked(std::process::id()))
    }

    /// Returns the processor time since then. `None` if it is too short to be measured.
    fn end(self) -> Option<Duration> {
        let time = worked(std::process::id())?.saturating_sub(self.0?);
        (!time.is_zero()).then_some(time)
    }
}

/// Returns the measured requests, each with its description.
fn requests() -> Vec<(&'static str, Search)> {
    let names =
        |ranks: &[usize]| ranks.iter().map(|rank| name(*rank)).collect::<Vec<_>>().join(" ");
    let of = |query: String| Search::of(query);
    vec![
        ("a name in a few messages", of(names(&[SELDOM]))),
        ("a name in some thousand messages", of(names(&[SOMETIMES]))),
        ("a name in many messages", of(names(&[OFTEN]))),
        ("a word in almost every message", of("the".into())),
        ("a common word and a rare name", of(format!("the {}", name(SELDOM)))),
        ("two common words", of("error parser".into())),
        ("two names in many messages", of(names(&[OFTEN, OFTEN + 1]))),
        ("a phrase of common words", of("\"the store\"".into())),
        ("a phrase of a path", of("src/store/read.rs".into())),
        ("the beginning of a word", of("retr*".into())),
        ("a common word, in results", Search { kind: Some(HitKind::Result), ..of("the".into()) }),
        ("a common word, by users", Search { role: Some(Role::User), ..of("the".into()) }),
        (
            "a name in many messages, in calls of a tool of a folder",
            Search {
                tool: Some("bash".into()),
                workspace: Some(workspace()),
                ..of(names(&[OFTEN]))
            },
        ),
        ("a word that is nowhere", of(NOWHERE.into())),
    ]
}

fn answers(
    scene: &Scene,
    engine: &Engine,
    of: &str,
    what: &str,
    request: &Search,
) -> Result<Figure> {
    let mut took = Samples::default();
    let rounds = scene.rounds(QUERIED);
    let (mut hits, work) = (0, Work::begin());
    for _ in 0..rounds {
        let start = Instant::now();
        let answer = SearchIndex::of(engine).search(request)?;
        took.add(start.elapsed());
        hits = answer.hits.len();
    }
    let mean = work.end().map(|time| time / u32::try_from(rounds).unwrap_or(u32::MAX));
    let mean =
        mean.map_or(String::new(), |time| format!("; mean processor time {}", formatted(time)));
    let millis = took.median().as_secs_f64() * 1e3;
    let what = format!("search of {of}: {what}");
    let figure = Figure::alone(what, Goal::AtMost(ANSWERED), millis, Unit::Milliseconds);
    Ok(figure.from(took.to_string(), format!("{hits} hits{mean}")))
}

/// Measures imports alone and while another process keeps the index up to date, and an index of what
/// was imported.
fn followed_imports(scene: &Scene) -> Result<Vec<Figure>> {
    let dir = scene.folder()?;
    let file = dir.path().join(import::FILE);
    let bytes = import::write(&file, scene.sizes.searched.1)?;
    let size = format!("{} MB", grouped((bytes / 1_000_000) as usize));
    let (mut alone, mut followed, mut behind) = <(Samples, Samples, Samples)>::default();
    for _ in 0..IMPORTED {
        let store = scene.folder()?;
        alone.add(import_into(store.path(), &file)?);
        let store = scene.folder()?;
        let (took, rest) = import_followed(store.path(), &file)?;
        followed.add(took);
        behind.add(rest);
    }
    let store = scene.folder()?;
    import_into(store.path(), &file)?;
    let read =
        first(&url(store.path()), &format!("an imported Claude Code file of {size}"), bytes)?;
    let what = format!("import of {size} while the index follows, against without an index");
    let import = Figure::ratio(what, Goal::AtMost(1.3), &alone, &followed);
    let what = format!("from the end of such an import of {size} to an index of all of it");
    let rest = behind.median().as_secs_f64();
    let rest = Figure::alone(what, Goal::None, rest, Unit::Seconds).from(behind.to_string(), "");
    Ok(vec![read, import, rest])
}

fn url(store: &Path) -> String {
    format!("sqlite:{}", store.join("store.db").display())
}

fn import_into(store: &Path, file: &Path) -> Result<Duration> {
    let option = format!("--store={}", url(store));
    Program::forklore(store)?.run(&[&option, "import", &file.to_string_lossy()])
}

/// Imports a file while another thread searches again and again, so that the index follows. Returns
/// how long the import took, and how long the index took from then on.
fn import_followed(store: &Path, file: &Path) -> Result<(Duration, Duration)> {
    let engine = open(&url(store))?;
    let search = || SearchIndex::of(&engine).search(&Search::of(NOWHERE));
    let is_imported = AtomicBool::new(false);
    thread::scope(|scope| {
        let follower = scope.spawn(|| -> Result<()> {
            while !is_imported.load(Ordering::Relaxed) {
                search()?;
                thread::sleep(PAUSE);
            }
            Ok(())
        });
        let imported = import_into(store, file);
        is_imported.store(true, Ordering::Relaxed);
        let start = Instant::now();
        follower.join().map_err(|_| Error::Wrong("the follower panicked".into()))??;
        search()?;
        Ok((imported?, start.elapsed()))
    })
}
