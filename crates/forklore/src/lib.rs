//! Sessions of AI agents that fork, at the same cost whatever the length of the history.
//!
//! This is the crate to add to an agent or a tool that stores sessions. It opens a store by its
//! address and has every operation as a method. Use the other crates of the workspace for a part of
//! it: `forklore-engine` over a store of your own, or `forklore-agent` for a kernel that also runs
//! turns.
//!
//! - [`open`] a store and call the methods of [`Forklore`] on it; they return futures that run on
//!   any executor. Without an executor, [`blocking::open`] gives an [`Engine`] with the same
//!   methods as blocking calls.
//! - [`prelude`] has the types that these methods take and return.
//! - [`StoreUrl`] is the address of a store: one SQLite file, a folder of JSON lines, or memory.
//! - [`import`] reads the files of other agents, in the [`formats`] that this crate includes.
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
//! A session is an append-only log. A fork is another continuation of it that shares the history
//! before the fork. `docs/semantics.md` in the repository defines the terms and rules. The
//! directory `examples/` has an agent loop that forks, a best-of-n selection, and a custom store.
//!
//! The crate calls no model and runs no tools.
//!
//! # Errors
//!
//! Every method fails with [`Error`]. Its [`kind`](Error::kind) is one of a few kinds (`not_found`,
//! `conflict`, `busy`, ...; docs/semantics.md, Errors), and its [`details`](Error::details) are the
//! facts as JSON.
//!
//! # Features
//!
//! `async` (on by default) adds [`open`] and [`Forklore`]. Without it [`blocking`] remains, and no
//! async crate is built.
//!
//! `graph` adds the module of that name, which represents sessions as RDF and queries them with
//! SPARQL, and the store `graph:DIR`.

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

/// Compiles the code in the README.
#[cfg(all(doctest, feature = "async"))]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// Compiles the code in the page about custom stores.
#[cfg(all(doctest, feature = "async"))]
#[doc = include_str!("../../../docs/conformance.md")]
struct Conformance;
