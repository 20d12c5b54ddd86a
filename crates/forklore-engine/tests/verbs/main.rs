//! The verbs over every store, by the numbers of the acceptance list (`aNN_`).
//!
//! Each case runs over the memory store and over SQLite; what it compares are whole values.

mod append;
mod calls;
mod content;
mod cut;
mod delete;
mod lineage;
mod plan;
mod reading;
mod reference;
mod summary;
mod tree;
mod world;
