//! Tests of `anchor` and `verify --anchors`.

mod edits;
mod files;
mod forger;
mod honest;
mod keys;
mod suite;
mod text;
mod victim;
