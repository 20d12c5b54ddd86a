//! Sessions as a knowledge graph: RDF with the PROV-O vocabulary, and SPARQL queries.
//!
//! Use this crate for questions about many sessions at once, such as which tools failed in which
//! branch, or to give sessions to other programs that read RDF. For a single session or family, the
//! operations of `forklore-engine` are simpler and need no graph.
//!
//! - [`Projection`] converts the sessions of any store to quads, and [`write()`] serializes quads
//!   in five formats.
//! - [`Graph`] contains quads in memory and answers a [`Query`] with an [`Answer`].
//! - [`Sessions`] answers a query about the sessions of any store. If the store has a cache folder,
//!   it answers from a persistent index there.
//! - [`GraphStore`] is a session store that answers queries. It stores sessions in a directory
//!   `journal`, in the same format as the files store (crate `forklore-files`). Before each query,
//!   it updates a graph in memory.
//! - [`ONTOLOGY`] defines the vocabulary, and [`SHAPES`] the required form of a graph.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use forklore_core::workspace::Workspace;
//! use forklore_engine::{Create, Engine, Fork, NewEvent};
//! use forklore_graph::{Answer, Graph, Projection, Query, Scope, term};
//! use forklore_store::memory::MemoryStore;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = Engine::new(Arc::new(MemoryStore::default()));
//! let main = engine.create(&Create::in_workspace(Workspace::new("/work/demo")))?.id;
//! engine.append(&main, &NewEvent::user("plan A or plan B?")?.into())?;
//! engine.fork(&Fork { label: Some("plan-b".parse()?), ..Fork::of(main) })?;
//!
//! let graph = Graph::of(Projection::new(&engine, &Scope::Everything)?)?;
//! let answer = graph.answer(&Query {
//!     text: "SELECT ?from { ?fork prov:wasDerivedFrom/fl:branch ?from ; fl:branch ?branch }",
//!     parameters: vec![("branch".to_owned(), term("plan-b")?)],
//!     limit: 10,
//!     timeout: Duration::from_secs(30),
//! })?;
//! let Answer::Rows { rows, .. } = answer else { return Err("no rows".into()) };
//! assert_eq!(rows, [[Some(term("main")?)]]);
//! # Ok(())
//! # }
//! ```
//!
//! A query only reads. Updates are refused, and so is `SERVICE`, which would contact another
//! server. A [`Graph`] shows the sessions as they were when the graph was built. Only [`Sessions`]
//! and a [`GraphStore`] follow later changes. `docs/graph.md` in the repository contains ten
//! example queries.

mod about;
mod event;
mod graph;
mod index;
mod iri;
mod live_graph;
mod profile;
mod projection;
mod query;
mod results;
mod session;
mod sessions;
mod store;
mod syntax;
mod term;
mod unknown;
mod vocabulary;
mod walk;
mod write;

pub use forklore_api::{GraphFormat as Format, GraphScope as Scope, NotAGraphFormat as NotAFormat};
pub use graph::{Graph, LoadError};
pub use iri::{is_did, session as session_iri};
/// Re-exports the RDF data types of this crate's API from the RDF library oxigraph.
pub use oxigraph::model as terms;
pub use profile::{NotAProfile, Profile, TRAILS_DEPTH};
pub use projection::Projection;
pub use query::{Answer, Query, QueryError};
pub use results::{NotAResultForm, ResultForm};
pub use sessions::{Answered, Sessions};
pub use store::{AskError, GraphStore, JOURNAL};
pub use term::{NotATerm, term};
pub use unknown::UnknownTerm;
pub use vocabulary::{NAMESPACE, ONTOLOGY, PREFIXES, SHAPES};
pub use write::{rdf_format, write};
