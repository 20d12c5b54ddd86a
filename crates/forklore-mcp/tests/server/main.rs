//! Tests of the server as a client sees it: rmcp's own client, connected through a pipe.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod allowed;
mod hostile;
mod http;
mod long;
mod prompts;
mod reading;
mod refusals;
mod resources;
mod revisions;
mod world;
