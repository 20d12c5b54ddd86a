//! What happens to an index: files that are damaged or of another store, garbage collection, stores
//! that may not be written to, several processes.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use forklore_engine::{DeleteMode, Engine};
use forklore_formats::AGENT_FORMATS;
use forklore_sqlite::SqliteStore;

use crate::world::{Kind, create, delete, fork, found, lines, scanned, user};

const STORES: [Kind; 2] = [Kind::Sqlite, Kind::Files];

fn indexed(kind: Kind, folder: &Path) -> Engine {
    let engine = kind.open(folder);
    for session in ["a", "b", "c"] {
        create(&engine, session, "/w");
        for at in 0..50 {
            user(&engine, session, &format!("word number{at} of session {session}"));
        }
        fork(&engine, session, "index:20", &format!("{session}-child"));
    }
    assert_sound(&engine);
    engine
}

fn assert_sound(engine: &Engine) {
    for words in [&["word"][..], &["number7"], &["session", "b"], &["nowhere"]] {
        assert_eq!(found(engine, &words.join(" ")), scanned(engine, words));
    }
}

#[test]
fn only_the_owner_can_read_the_index() {
    for kind in STORES {
        let folder = tempfile::tempdir().unwrap();
        indexed(kind, folder.path());
        let file = kind.cache(folder.path()).join("search.db");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn gc_removes_the_words_of_deleted_sessions() {
    for kind in STORES {
        let folder = tempfile::tempdir().unwrap();
        let engine = indexed(kind, folder.path());
        user(&engine, "a", "xylophone");
        assert_eq!(lines(&engine, "xylophone"), ["a:50 in a"]);
        let cache = kind.cache(folder.path());
        let holds = |name: &str| {
            let bytes = std::fs::read(cache.join(name)).unwrap_or_default();
            bytes.windows(6).any(|window| window == b"ylopho")
        };
        assert!(holds("search.db") || holds("search.db-wal"));
        delete(&engine, "a", DeleteMode::DetachChildren);
        assert_eq!(lines(&engine, "xylophone"), [""; 0]);
        engine.gc().unwrap();
        assert!(!cache.exists());
        assert_sound(&engine);
        assert!(!holds("search.db") && !holds("search.db-wal"));
    }
}

#[test]
fn a_store_that_may_not_be_written_to_gets_no_index() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Kind::Sqlite.open(folder.path());
    create(&engine, "a", "/w");
    user(&engine, "a", "word");
    drop(engine);
    let options = forklore_sqlite::Options { read_only: true, ..Default::default() };
    let store = SqliteStore::open(&Kind::Sqlite.store(folder.path()), options).unwrap();
    let engine = Engine::new(Arc::new(store)).with_agent_formats(AGENT_FORMATS);
    assert_sound(&engine);
    assert!(!Kind::Sqlite.cache(folder.path()).exists());
}

#[test]
fn a_folder_that_cannot_be_made_is_no_obstacle() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Kind::Sqlite.open(folder.path());
    create(&engine, "a", "/w");
    user(&engine, "a", "word");
    std::fs::write(Kind::Sqlite.cache(folder.path()), "").unwrap();
    assert_sound(&engine);
}

#[test]
fn a_damaged_index_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let engine = indexed(Kind::Sqlite, folder.path());
    let file = Kind::Sqlite.cache(folder.path()).join("search.db");
    let sound = std::fs::read(&file).unwrap();
    let pages = |first: usize, byte: u8| {
        let mut damaged = sound.clone();
        damaged[first..].iter_mut().for_each(|it| *it = byte);
        damaged
    };
    let damages = [
        b"this is no database, and it is longer than the header of one".to_vec(),
        sound[..sound.len() / 2].to_vec(),
        sound[..100].to_vec(),
        pages(4_096, 0xff),
        pages(sound.len() / 2, 0),
        Vec::new(),
    ];
    for damaged in damages {
        std::fs::write(&file, damaged).unwrap();
        assert_sound(&engine);
    }
}

#[test]
fn an_index_of_another_form_or_store_is_built_again() {
    let folder = tempfile::tempdir().unwrap();
    let engine = indexed(Kind::Sqlite, folder.path());
    let file = Kind::Sqlite.cache(folder.path()).join("search.db");
    let conn = rusqlite::Connection::open(&file).unwrap();
    conn.execute_batch("CREATE TABLE later (x); UPDATE state SET form = 'later'").unwrap();
    drop(conn);
    assert_sound(&engine);
    drop(engine);
    let other = tempfile::tempdir().unwrap();
    let engine = Kind::Sqlite.open(other.path());
    create(&engine, "x", "/w");
    user(&engine, "x", "word");
    drop(engine);
    let store = |folder: &Path| Kind::Sqlite.store(folder);
    std::fs::copy(store(other.path()), store(folder.path())).unwrap();
    let engine = Kind::Sqlite.open(folder.path());
    assert_eq!(lines(&engine, "word"), ["x:0 in x"]);
}

#[test]
fn crowd_of_threads_finds_what_each_of_them_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    drop(Kind::Sqlite.open(path));
    std::thread::scope(|scope| {
        for number in 0..4 {
            scope.spawn(move || {
                let engine = Kind::Sqlite.open(path);
                for round in 1..=10 {
                    let session = format!("t{number}-{round}");
                    create(&engine, &session, "/w");
                    user(&engine, &session, &format!("thread{number}"));
                    assert_eq!(lines(&engine, &format!("thread{number}")).len(), round);
                }
            });
        }
    });
    let engine = Kind::Sqlite.open(path);
    assert_eq!(found(&engine, "thread2"), scanned(&engine, &["thread2"]));
}
