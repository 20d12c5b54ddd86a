//! Tests of pages: what they contain, and that hostile text stays text, also in a real browser.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod browser;
mod contents;
mod hostile;
mod world;
