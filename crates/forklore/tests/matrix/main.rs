//! Executes every verb on a session in every state, over every store, twice.
//!
//! Some errors occur only when two features meet, such as a summary and a running session, or a
//! delete and a session whose parent is gone. So each cell of the matrix builds a new store with a
//! session in one state ([`state`]), executes one verb on it ([`verb`]) and executes the verb again
//! through another handle of the same store. A cell fails if
//!
//! - two kinds of store do not give the same answers (if the store is damaged, they may differ),
//! - a verb changes an event that it must not change: reads change nothing, and writes only add to
//!   the session that they name or delete what their answer lists,
//! - a write leaves damage behind that `verify` finds,
//! - the answers are not those of the snapshot, which has a line for each state.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a broken cell ends the test"
)]

mod cell;
mod state;
mod test_store;
mod verb;

/// Creates one test for each verb, so that a failure names the verb.
macro_rules! tests_of {
    ($($verb:ident),* $(,)?) => {
        $(#[test] fn $verb() { insta::assert_snapshot!(cell::rows(&verb::$verb())); })*
        #[test]
        fn the_matrix_has_at_least_four_hundred_cells() {
            let verbs = [$(stringify!($verb)),*].len();
            assert!(verbs * state::STATES.len() >= 400, "{verbs} verbs");
        }
    };
}

tests_of! {
    show, log, replay, replay_a_turn, inspect, tree, branches, lineage, diff_with_the_root,
    diff_stat_with_the_root, stats,
    stats_of_the_family, usage, context_usage, search, attachments, export, export_to_codex, restore, verify,
    plan_a_fork,
    append, append_at_a_head, attach, fork, fork_at_the_start, fork_a_turn, fork_a_copy,
    fork_with_a_summary, fork_with_open_calls_refused, delegate, label, rename, lease, bring_it, bring_into_it,
    detach, plan_a_delete, delete, delete_the_family_below, delete_and_detach_children, undelete,
    gc, pack,
    recover,
}
