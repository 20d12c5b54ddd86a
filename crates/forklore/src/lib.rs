//! Sessions of AI agents that can be forked. A fork costs the same whatever the length of the
//! history.
//!
//! This is the crate to add to an agent or a tool that stores sessions. It opens a store by its URL
//! and has every operation as a method. Two other crates of the workspace may suffice:
//! `forklore-engine` runs over a store of your own, and `forklore-agent` is a kernel that also runs
//! turns.
//!
//! - [`open`] returns a [`Forklore`], whose methods are the operations. They return futures that
//!   run on any executor. Without an executor, [`blocking::open`] gives an [`Engine`]. Its methods
//!   block. Imports, searches and pages over an engine are in [`import`], [`search`] and [`page`].
//! - [`prelude`] has the types that these methods take and return.
//! - [`StoreUrl`] is the address of a store: one SQLite file, a directory of JSON lines, a PostgreSQL
//!   database, or memory.
//! - [`page`] writes a session as one page of HTML or Markdown.
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
//! A session is an append-only log. A fork is another continuation of a session, and shares the
//! history before the fork. `docs/semantics.md` in the repository defines the terms and rules. The
//! directory `examples/` has an agent loop that forks, a best-of-n selection, and a custom store.
//!
//! The crate calls no model and runs no tools.
//!
//! # Errors
//!
//! Every method that fails returns an [`Error`]. The [`kind`](Error::kind) of the error is one of a
//! few kinds (`not_found`, `conflict`, `busy`, ...; docs/semantics.md, Errors). The
//! [`details`](Error::details) are its facts as JSON. A function that opens a store returns an
//! [`OpenError`] instead.
//!
//! # Features
//!
//! `async` (on by default) adds [`open`] and [`Forklore`]. Without this feature the API is
//! [`blocking`] only, and no async crate is built.
//!
//! `graph` adds the module `graph`, which represents sessions as RDF and queries them with SPARQL.
//! It also adds the store `graph:DIR`.

mod backup;
pub mod blocking;
mod export;
#[cfg(feature = "async")]
mod face;
mod health;
mod named_store;
mod open;
pub mod prelude;

pub use forklore_api as api;
pub use forklore_core as core;
pub use forklore_engine as engine;
pub use forklore_formats as formats;
#[cfg(feature = "graph")]
pub use forklore_graph as graph;
pub use forklore_import as import;
pub use forklore_page as page;
#[cfg(feature = "postgres")]
pub use forklore_postgres as postgres;
#[cfg(feature = "http")]
pub use forklore_remote as remote;
pub use forklore_search as search;
pub use forklore_store as store;

pub use backup::{BackupError, BackupStep, VerifiedCopy, store_at};
pub use export::Export;
#[cfg(feature = "async")]
pub use face::{Forklore, Rows, open, open_url};
pub use forklore_engine::{Engine, Error};
pub use health::{health, versions};
pub use named_store::{create_private_folder, url_of};
pub use open::{OpenError, StoreUrl, without_password};

/// Makes the documentation tests compile and run the code in the README.
#[cfg(all(doctest, feature = "async"))]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// Makes the documentation tests compile and run the code in `docs/conformance.md`, the page about
/// custom stores.
#[cfg(all(doctest, feature = "async"))]
#[doc = include_str!("../../../docs/conformance.md")]
struct Conformance;
