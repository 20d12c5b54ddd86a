//! Runs the cases of the engine's operations on a graph store. They are in the tests of
//! `forklore-engine`, which cannot depend on this crate.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "these are tests: a broken expectation ends the case"
)]

#[path = "../../../forklore-engine/tests/verbs/append.rs"]
mod append;
#[path = "../../../forklore-engine/tests/verbs/attach.rs"]
mod attach;
#[path = "../../../forklore-engine/tests/verbs/bring.rs"]
mod bring;
#[path = "../../../forklore-engine/tests/verbs/calls.rs"]
mod calls;
#[path = "../../../forklore-engine/tests/verbs/content.rs"]
mod content;
#[path = "../../../forklore-engine/tests/verbs/cut.rs"]
mod cut;
#[path = "../../../forklore-engine/tests/verbs/delete.rs"]
mod delete;
#[path = "../../../forklore-engine/tests/verbs/following.rs"]
mod following;
#[path = "../../../forklore-engine/tests/verbs/ids.rs"]
mod ids;
#[path = "../../../forklore-engine/tests/verbs/lineage.rs"]
mod lineage;
#[path = "../../../forklore-engine/tests/verbs/plan.rs"]
mod plan;
#[path = "../../../forklore-engine/tests/verbs/reading.rs"]
mod reading;
#[path = "../../../forklore-engine/tests/verbs/reference.rs"]
mod reference;
mod stores;
#[path = "../../../forklore-engine/tests/verbs/summary.rs"]
mod summary;
#[path = "../../../forklore-engine/tests/verbs/trash.rs"]
mod trash;
#[path = "../../../forklore-engine/tests/verbs/tree.rs"]
mod tree;
#[allow(dead_code, reason = "only some of the other stores are opened here")]
#[path = "../../../forklore-engine/tests/verbs/world.rs"]
mod world;
