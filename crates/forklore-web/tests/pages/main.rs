//! Tests of the pages: what they show, that hostile text stays text, that they stay small, and what
//! they answer to requests that make no sense.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod changed;
mod compared;
mod families;
mod found;
mod hostile;
mod live;
mod parsed;
#[path = "../../../forklore-page/tests/pages/hostile.rs"]
mod payloads;
mod read;
mod rewound;
mod server;
mod shown;
mod sizes;
mod world;
mod wrong;
