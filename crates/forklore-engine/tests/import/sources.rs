//! Every store keeps the contract of sources.

use forklore_conformance::sources::cases;
use forklore_files::FilesStore;
use forklore_sqlite::{Options, SqliteStore};
use forklore_store::memory::MemoryStore;

#[test]
fn the_memory_store_keeps_sources() {
    for (name, case) in cases() {
        println!("{name}");
        case(&MemoryStore::default());
    }
}

#[test]
fn the_sqlite_store_keeps_sources() {
    for (name, case) in cases() {
        println!("{name}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite");
        case(&SqliteStore::open(&path, Options::default()).unwrap());
    }
}

#[test]
fn the_files_store_keeps_sources() {
    for (name, case) in cases() {
        println!("{name}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        case(&FilesStore::open(&path, Default::default()).unwrap());
    }
}
