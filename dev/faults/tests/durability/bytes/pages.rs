//! Tests with SQLite files in which whole pages are wrong: a page was replaced by another page of
//! the file or by an older state of itself, or two pages changed places. Trees of pages may then
//! lead in a circle, so each test counts the steps that SQLite takes to read the damaged store.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use forklore::Engine;
use forklore::core::ErrorKind;
use forklore::core::workspace::Workspace;
use forklore::engine::{Batch, Create, Fork, NewEvent};
use forklore_faults::bytes::{read, run_all};
use forklore_faults::golden::Answers;
use forklore_faults::kind::Kind;
use forklore_faults::soak::{Chance, seed, times};
use forklore_sqlite::SqliteStore;

use crate::golden::{copy_all, stores};

/// The size of a page of a SQLite store, in bytes.
const PAGE: usize = 8 << 10;

/// How many steps SQLite may take for a damaged store, as a multiple of those for the sound one. An
/// answer that reads a damaged list may read every session on its own.
const MORE: u64 = 5;

/// A store with trees of several levels, and the state of its file some writes before.
struct Grown {
    folder: tempfile::TempDir,
    old: Vec<u8>,
    new: Vec<u8>,
    expected: Answers,
    /// The steps that SQLite takes to read the sound store, in thousands.
    steps: u64,
}

fn engine(folder: &Path) -> Result<(Arc<SqliteStore>, Engine), forklore::store::Error> {
    let store = Arc::new(SqliteStore::open(&folder.join("store.db"), Default::default())?);
    let engine = Engine::new(store.clone());
    Ok((store, engine.with_agent_formats(forklore::formats::AGENT_FORMATS)))
}

/// Appends turns to some sessions and makes forks, so that no tree of the file stays as it is.
fn grow(engine: &Engine, round: usize) {
    let user = |text: String| NewEvent::user(&text).unwrap();
    let id = format!("grown-{round}").parse().ok();
    let create = Create { id, ..Create::in_workspace(Workspace::new("/golden")) };
    let parent = engine.create(&create).unwrap().id;
    for turn in 0..60 {
        let text = |n: usize| user(format!("round {round}, turn {turn}.{n} {}", "x".repeat(90)));
        let events: Vec<_> = (0..20).map(text).collect();
        engine.append(&parent, &Batch::from(events)).unwrap();
        let id = format!("grown-{round}-{turn}").parse().unwrap();
        // A short history, because every session is read in each case.
        let at = "turn:1".parse().ok();
        engine.fork(&Fork { id: Some(id), at, ..Fork::of(parent.clone()) }).unwrap();
    }
}

fn grown() -> Grown {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let golden = stores(Kind::Sqlite, "sqlite").pop().unwrap();
    let store = folder.path().join("store");
    copy_all(&golden.join("store"), &store);
    let grow = |round| {
        grow(&engine(&store).unwrap().1, round);
        fs::read(store.join("store.db")).unwrap()
    };
    let (old, new) = (grow(1), grow(2));
    let (sound, engine) = engine(&store).unwrap();
    let expected = Answers::of(&engine).unwrap();
    let before = sound.kilosteps();
    assert_eq!(read(&engine, &expected, &store.join("store.db")), Ok(false));
    let steps = sound.kilosteps() - before;
    drop((sound, engine));
    assert!(old.len() > 60 * PAGE && new.len() > old.len(), "{} {}", old.len(), new.len());
    Grown { folder, old, new, expected, steps }
}

/// Reads a store whose file has the bytes `damaged`. Each answer must be as expected or report the
/// damage; if it is an older one, `verify` must find the damage.
fn try_one(grown: &Grown, most: &Mutex<u64>, damaged: &[u8]) -> Result<(), String> {
    let folder = grown.folder.path().join("store");
    let file = folder.join("store.db");
    for suffix in ["-wal", "-shm"] {
        let _ = fs::remove_file(folder.join(format!("store.db{suffix}")));
    }
    fs::write(&file, damaged).unwrap();
    let (store, engine) = match engine(&folder) {
        Ok(opened) => opened,
        Err(error) => {
            let clear = matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported);
            return clear.then_some(()).ok_or(format!("it is refused in an unclear way: {error}"));
        }
    };
    let answered = read(&engine, &grown.expected, &file);
    let steps = store.kilosteps();
    let mut most = most.lock().unwrap();
    *most = steps.max(*most);
    if steps > MORE * grown.steps {
        return Err(format!("{steps}k steps; the sound store takes {}k", grown.steps));
    }
    match answered {
        Ok(_) => Ok(()),
        Err(changed) => match engine.verify(None) {
            Ok(report) if report.problems.is_empty() => Err(changed),
            _ => Ok(()),
        },
    }
}

/// A file in which whole pages are wrong. Pages are numbered from 0.
#[derive(Clone, Copy, Debug)]
enum Wrong {
    /// The page `to` has the content of the page `from`.
    Spliced { from: usize, to: usize },
    /// Two pages changed places.
    Swapped(usize, usize),
    /// The page has the content that it had some writes before.
    Stale(usize),
}

impl Wrong {
    /// Returns the bytes of the grown store's file with this damage.
    fn apply(self, grown: &Grown) -> Vec<u8> {
        let mut bytes = grown.new.clone();
        let mut put = |from: &[u8], page: usize, to: usize| {
            let page = from.get(page * PAGE..(page + 1) * PAGE);
            if let (Some(to), Some(page)) = (bytes.get_mut(to * PAGE..(to + 1) * PAGE), page) {
                to.copy_from_slice(page);
            }
        };
        match self {
            Self::Spliced { from, to } => put(&grown.new, from, to),
            Self::Swapped(one, other) => {
                put(&grown.new, one, other);
                put(&grown.new, other, one);
            }
            Self::Stale(page) => put(&grown.old, page, page),
        }
        bytes
    }
}

/// Tries the damaged files that `cases` returns for the numbers of pages of the old and the new
/// file.
fn sweep(cases: impl FnOnce(usize, usize) -> Vec<Wrong>) {
    let grown = grown();
    let cases = cases(grown.old.len() / PAGE, grown.new.len() / PAGE);
    let (count, sound) = (cases.len(), grown.steps);
    let most = Arc::new(Mutex::new(0));
    let seen = most.clone();
    run_all(cases, move |wrong| try_one(&grown, &seen, &wrong.apply(&grown)));
    let most = most.lock().unwrap();
    println!("pages: seed {}, {count} copies, {sound}k steps, at most {most}k", seed());
}

/// Returns `count` random pairs of pages of a file with `pages` pages.
fn pairs(count: u64, pages: usize, stream: u64) -> Vec<(usize, usize)> {
    let mut chance = Chance::new(seed(), stream << 32);
    let mut page = || usize::try_from(chance.below(pages as u64)).unwrap();
    (0..times(count)).map(|_| (page(), page())).collect()
}

#[test]
fn a_page_of_an_older_state() {
    sweep(|old, _| (0..old).map(Wrong::Stale).collect());
}

#[test]
fn two_pages_that_were_swapped() {
    sweep(|_, pages| {
        pairs(30, pages, 3_001).into_iter().map(|(one, other)| Wrong::Swapped(one, other)).collect()
    });
}

#[test]
fn a_page_that_is_a_copy_of_another_one() {
    sweep(|_, pages| {
        let splice = |(from, to)| Wrong::Spliced { from, to };
        pairs(30, pages, 3_002).into_iter().map(splice).collect()
    });
}

/// Each page that leads to others gets the place of each page below it: the tree is a circle.
#[test]
fn a_tree_that_leads_in_a_circle() {
    let grown = grown();
    let number = |at: usize| {
        let bytes = grown.new.get(at..at + 4).unwrap();
        usize::try_from(u32::from_be_bytes(bytes.try_into().unwrap())).unwrap()
    };
    let mut circles = Vec::new();
    for page in 1..grown.new.len() / PAGE {
        let at = page * PAGE;
        // The type of a page is its first byte: 5 and 2 are the inner pages of tables and indexes.
        if !matches!(grown.new[at], 2 | 5) {
            continue;
        }
        let cells = usize::from(u16::from_be_bytes([grown.new[at + 3], grown.new[at + 4]]));
        let cell = |n: usize| {
            let pointer = at + 12 + 2 * n;
            usize::from(u16::from_be_bytes([grown.new[pointer], grown.new[pointer + 1]]))
        };
        let below = (0..cells).map(|n| number(at + cell(n))).chain([number(at + 8)]);
        circles.extend(below.map(|below| Wrong::Spliced { from: page, to: below - 1 }));
    }
    assert!(circles.len() > 20, "only {} pages below others", circles.len());
    sweep(|_, _| circles);
}
