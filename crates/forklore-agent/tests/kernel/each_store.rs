//! Runs a case of the kernel tests over a store in memory and over a store on a disk.

use std::sync::Arc;

use forklore_engine::Engine;
use forklore_sqlite::{Options, SqliteStore};

use crate::world::World;

/// Creates two tests of each case: one with the memory store and one with SQLite.
macro_rules! on_each_store {
    ($($case:ident),* $(,)?) => {
        mod memory {
            $(#[tokio::test] async fn $case() { super::$case(crate::world::World::new()).await; })*
        }
        mod sqlite {
            $(#[tokio::test] async fn $case() {
                let dir = tempfile::tempdir().unwrap();
                super::$case(crate::each_store::on_disk(&dir)).await;
            })*
        }
    };
}

pub(crate) use on_each_store;

/// Returns a world over a SQLite store in `dir`.
pub(crate) fn on_disk(dir: &tempfile::TempDir) -> World {
    let path = dir.path().join("store.db");
    World::over(Engine::new(Arc::new(SqliteStore::open(&path, Options::default()).unwrap())))
}
