//! What happens to an index: files that are damaged or of another store, garbage collection, and
//! stores that may not be written to.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use forklore_core::workspace::Workspace;
use forklore_engine::{Create, Engine};
use forklore_files::FilesStore;
use forklore_graph::Scope;
use forklore_sqlite::SqliteStore;

use super::{KINDS, Kind, answered, assert_in_step, rows};
use crate::family::{self, id, user};

const SESSIONS: &str = "SELECT ?s { ?s a fl:Session }";

/// Returns an engine on a store with a family, and an index of it.
fn indexed(kind: Kind, folder: &Path) -> Engine {
    let engine = family::clocked(kind.open(folder));
    family::grow(&engine);
    assert_eq!(assert_in_step(&engine, &Scope::Everything), 8);
    engine
}

fn modes(folder: &Path) -> Vec<(String, u32)> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let mut found: Vec<_> = entries
        .map(|entry| {
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            (entry.file_name().into_string().unwrap(), mode)
        })
        .collect();
    found.sort();
    found
}

#[test]
fn only_the_owner_can_read_the_index() {
    for kind in KINDS {
        let folder = tempfile::tempdir().unwrap();
        indexed(kind, folder.path());
        let cache = kind.cache(folder.path());
        assert_eq!(cache.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        let files = modes(&cache);
        assert!(files.iter().any(|(name, _)| name == "graph.db"), "{files:?}");
        assert!(files.iter().all(|(_, mode)| *mode == 0o600), "{files:?}");
    }
}

#[test]
fn gc_removes_the_index_with_what_was_deleted() {
    for kind in KINDS {
        let folder = tempfile::tempdir().unwrap();
        let engine = indexed(kind, folder.path());
        family::erase(&engine, "other");
        let size = kind.cache(folder.path()).join("graph.db").metadata().unwrap().len();
        assert!(engine.gc().unwrap().freed_bytes >= size);
        assert!(!kind.cache(folder.path()).exists());
        assert_in_step(&engine, &Scope::Everything);
    }
}

#[test]
fn a_store_that_may_not_be_written_to_gets_no_index() {
    let folder = tempfile::tempdir().unwrap();
    for kind in KINDS {
        family::grow(&family::clocked(kind.open(folder.path())));
        let path = kind.store(folder.path());
        let engine = match kind {
            Kind::Sqlite => {
                let options = forklore_sqlite::Options { read_only: true, ..Default::default() };
                Engine::new(Arc::new(SqliteStore::open(&path, options).unwrap()))
            }
            Kind::Files => {
                let options = forklore_files::Options { read_only: true, ..Default::default() };
                Engine::new(Arc::new(FilesStore::open(&path, options).unwrap()))
            }
        };
        for _ in 0..2 {
            assert_eq!(assert_in_step(&engine, &Scope::Everything), 8);
        }
        assert!(!kind.cache(folder.path()).exists());
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_no_obstacle() {
    let folder = tempfile::tempdir().unwrap();
    let engine = family::clocked(Kind::Sqlite.open(folder.path()));
    family::grow(&engine);
    std::fs::write(Kind::Sqlite.cache(folder.path()), "no folder").unwrap();
    for _ in 0..2 {
        assert_eq!(assert_in_step(&engine, &Scope::Everything), 8);
    }
}

#[test]
fn a_damaged_index_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let engine = indexed(Kind::Sqlite, folder.path());
    let file = Kind::Sqlite.cache(folder.path()).join("graph.db");
    let sound = std::fs::read(&file).unwrap();
    let whole = sound.len();
    let pages = |first: usize, byte: u8| {
        let mut damaged = sound.clone();
        damaged[first..].iter_mut().for_each(|it| *it = byte);
        damaged
    };
    let mut changed = sound.clone();
    for at in 0..whole - 6 {
        if &sound[at..at + 6] == b"winnow" {
            changed[at] = b'W';
        }
    }
    let damages = [
        b"this is no database, and it is longer than the header of one".to_vec(),
        sound[..whole / 2].to_vec(),
        sound[..100].to_vec(),
        pages(4_096, 0xff),
        pages(whole / 2, 0),
        changed,
    ];
    for (number, damaged) in damages.into_iter().enumerate() {
        std::fs::write(&file, damaged).unwrap();
        assert_eq!(assert_in_step(&engine, &Scope::Everything), 8, "{number}");
        assert_eq!(assert_in_step(&engine, &Scope::Everything), 0);
    }
    // An empty file is an index that was not begun.
    std::fs::write(&file, "").unwrap();
    assert_eq!(assert_in_step(&engine, &Scope::Everything), 8);
}

#[test]
fn an_index_of_another_store_is_built_again() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    drop(indexed(Kind::Sqlite, folder.path()));
    let engine = family::clocked(Kind::Sqlite.open(other.path()));
    let root = Create { id: Some(id("x")), ..Create::in_workspace(Workspace::new("/")) };
    engine.create(&root).unwrap();
    drop(engine);
    std::fs::copy(Kind::Sqlite.store(other.path()), Kind::Sqlite.store(folder.path())).unwrap();
    let engine = Kind::Sqlite.open(folder.path());
    assert_eq!(assert_in_step(&engine, &Scope::Everything), 1);
}

/// Runs `grow` on a store, then puts back a copy of before. Returns the store.
fn put_back(folder: &Path, grow: impl FnOnce(&Engine)) -> Engine {
    drop(indexed(Kind::Sqlite, folder));
    let store = Kind::Sqlite.store(folder);
    let backup = folder.join("backup");
    std::fs::copy(&store, &backup).unwrap();
    let engine = Kind::Sqlite.open(folder);
    grow(&engine);
    assert_in_step(&engine, &Scope::Everything);
    drop(engine);
    std::fs::copy(&backup, &store).unwrap();
    Kind::Sqlite.open(folder)
}

#[test]
fn an_index_of_a_later_state_is_built_again() {
    let grow = |engine: &Engine| {
        for at in 0..5 {
            user(engine, "demo-a", &format!("later {at}"));
        }
    };
    let folder = tempfile::tempdir().unwrap();
    let engine = put_back(folder.path(), grow);
    assert_eq!(assert_in_step(&engine, &Scope::Everything), 8);
    // As much was written since as there had been, and more, to the same session and to others.
    for writes in [1, 4, 5, 6, 20] {
        for session in ["demo-a", "other"] {
            let folder = tempfile::tempdir().unwrap();
            let engine = put_back(folder.path(), grow);
            for at in 0..writes {
                user(&engine, session, &format!("another {at}"));
            }
            assert_eq!(assert_in_step(&engine, &Scope::Everything), 8, "{writes} {session}");
        }
    }
    // The lost change was a label.
    let folder = tempfile::tempdir().unwrap();
    let label = |engine: &Engine| drop(engine.label(&id("demo-a"), &"new".parse().unwrap()));
    let engine = put_back(folder.path(), label);
    user(&engine, "other", "another");
    assert_eq!(assert_in_step(&engine, &Scope::Everything), 8);
}

#[test]
fn an_index_of_another_form_is_built_again() {
    let folder = tempfile::tempdir().unwrap();
    let engine = indexed(Kind::Sqlite, folder.path());
    let file = Kind::Sqlite.cache(folder.path()).join("graph.db");
    let conn = rusqlite::Connection::open(&file).unwrap();
    conn.execute_batch("CREATE TABLE later (x); UPDATE state SET form = 'later'").unwrap();
    drop(conn);
    assert_eq!(assert_in_step(&engine, &Scope::Everything), 8);
    assert_eq!(assert_in_step(&engine, &Scope::Everything), 0);
}

#[test]
fn crowd_of_threads_gets_what_each_of_them_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    family::grow(&family::clocked(Kind::Sqlite.open(path)));
    std::thread::scope(|scope| {
        for number in 0..4 {
            scope.spawn(move || {
                let engine = Kind::Sqlite.open(path);
                for round in 1..=20 {
                    let session = format!("t{number}-{round}");
                    let root = Create {
                        id: Some(id(&session)),
                        ..Create::in_workspace(Workspace::new("/"))
                    };
                    engine.create(&root).unwrap();
                    let found = rows(answered(&engine, &Scope::Everything, SESSIONS).answer);
                    let own = found.iter().filter(|row| row.contains(&format!(":t{number}-")));
                    assert_eq!(own.count(), round);
                }
            });
        }
    });
    assert_in_step(&Kind::Sqlite.open(path), &Scope::Everything);
}
