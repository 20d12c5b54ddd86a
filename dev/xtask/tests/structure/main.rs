//! Tests of the structure of the source tree, which reviewers therefore need not check.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod acceptance;
mod circles;
mod edges;
mod imports;
mod links;
mod manifests;
mod modules;
mod text;
mod tree;
mod words;

/// Fails if there are problems, with one line per problem.
#[track_caller]
fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}
