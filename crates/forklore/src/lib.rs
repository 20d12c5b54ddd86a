//! Sessions of AI agents that fork, at the same cost whatever the history.
//!
//! [`open`] a store and use the verbs of [`Forklore`] on it; they are futures that run under any
//! executor. Without one, [`blocking::open`] gives the same verbs as plain calls.
//!
//! ```
//! use forklore::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # futures_lite::future::block_on(async {
//! let store = forklore::open("memory:").await?;
//! let main = store.create(Create::in_workspace(Workspace::new("/work/demo"))).await?;
//! store.append(&main.id, NewEvent::user("plan A or plan B?")?).await?;
//!
//! let fork = store.fork(Fork::of(main.id.clone())).await?;
//! store.append(&fork.child_session_id, NewEvent::assistant("plan B")?).await?;
//! assert_eq!(store.diff(&main.id, &fork.child_session_id).await?.common, 1);
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! A session is an append-only log; a fork is another continuation of it that shares what came
//! before. What the words mean, rule by rule, is in `docs/semantics.md` of the repository; rules
//! are cited as `SPEC 5`. The folder `examples/` has an agent's loop that forks, the best of
//! several answers, and a store of one's own.
//!
//! # Errors
//!
//! Every verb fails with [`Error`], whose [`kind`](Error::kind) is one of the few kinds of SPEC 16
//! (`not_found`, `conflict`, `busy`, ...), and whose [`details`](Error::details) are the facts.
//!
//! # Features
//!
//! `async` (on by default) is [`open`] and [`Forklore`]. Without it [`blocking`] remains, and no
//! crate of async Rust is built.
//!
//! `graph` is the module of that name: sessions as RDF, and SPARQL over them; and the store
//! `graph:DIR`.

pub mod blocking;
#[cfg(feature = "async")]
mod face;
mod health;
mod open;
pub mod prelude;

pub use forklore_api as api;
pub use forklore_core as core;
pub use forklore_engine as engine;
pub use forklore_formats as formats;
#[cfg(feature = "graph")]
pub use forklore_graph as graph;
pub use forklore_import as import;
pub use forklore_store as store;

#[cfg(feature = "async")]
pub use face::{Forklore, Rows, open, open_url};
pub use forklore_engine::{Engine, Error};
pub use health::{health, versions};
pub use open::{OpenError, StoreUrl};

/// The code in the README is compiled.
#[cfg(all(doctest, feature = "async"))]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// So is that of the page about stores of one's own.
#[cfg(all(doctest, feature = "async"))]
#[doc = include_str!("../../../docs/conformance.md")]
struct Conformance;
