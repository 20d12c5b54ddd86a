//! The store on which the cases run.

use std::sync::Arc;

use forklore_graph::GraphStore;

use crate::world::{TestClock, World};

/// Creates one test for each case, on a graph store.
macro_rules! on_every_store {
    ($($case:ident),* $(,)?) => {
        mod graph {
            $(#[test] fn $case() { super::$case(&crate::world::World::graph()); })*
        }
    };
}
pub(crate) use on_every_store;

impl World {
    pub(crate) fn graph() -> Self {
        let (clock, dir) = (Arc::new(TestClock::default()), tempfile::tempdir().unwrap());
        let path = dir.path().join("store");
        let store = GraphStore::open_with_clock(&path, None, &[], clock.of_store()).unwrap();
        Self::over(Arc::new(store), clock, Some(dir))
    }
}
