//! The addon `forklore.node`: connections to stores, over JSON. The package around it adds the verbs,
//! the types, the classes of errors and the faces for frameworks.
//!
//! Each call exists twice. One returns a promise and works in a thread of libuv's pool, so it never
//! blocks the event loop. The other (`...Sync`) works in the calling thread: it costs no change of
//! threads, which is more than a small verb takes on a local store.

// In a build for tests, the macros export nothing, so that nothing is called.
#![cfg_attr(test, allow(dead_code))]

mod claude;
mod connection;
mod failure;
mod framework;
mod langgraph;
mod rows;
mod work;

/// Returns the version of the addon, which must be that of the package around it.
#[napi_derive::napi]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
