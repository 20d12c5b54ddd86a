//! The stores on which the cases run. The tests of `forklore-graph` run them on a graph store.

/// Creates one test for each pair of a case and a store.
macro_rules! on_every_store {
    ($($case:ident),* $(,)?) => {
        mod memory {
            $(#[test] fn $case() { super::$case(&crate::world::World::memory()); })*
        }
        mod files {
            $(#[test] fn $case() { super::$case(&crate::world::World::files()); })*
        }
        mod sqlite {
            $(#[test] fn $case() { super::$case(&crate::world::World::sqlite()); })*
        }
    };
}
pub(crate) use on_every_store;
