//! Sessions as a knowledge graph: RDF with the PROV-O vocabulary, and SPARQL queries over it.
//!
//! [`Projection`] converts the sessions of any store to quads, [`write()`] serializes quads in five
//! formats, and [`Graph`] answers queries about them. [`ONTOLOGY`] defines the vocabulary, and
//! [`SHAPES`] the required form of a graph; neither changes a session. [`GraphStore`] is a store
//! with a graph that follows it: a journal in the form of the files store, and its quads in memory.

mod about;
mod elsewhere;
mod event;
mod graph;
mod iri;
mod live_graph;
mod profile;
mod projection;
mod query;
mod results;
mod session;
mod store;
mod term;
mod vocabulary;
mod write;

pub use graph::{Graph, LoadError};
pub use iri::{is_did, session as session_iri};
/// The library of RDF terms that this crate's API uses.
pub use oxigraph::model as terms;
pub use profile::{NotAProfile, Profile, TRAILS_DEPTH};
pub use projection::{Projection, Scope};
pub use query::{Answer, Query, QueryError};
pub use results::{NotAResultForm, ResultForm};
pub use store::{AskError, GraphStore, JOURNAL};
pub use term::{NotATerm, term};
pub use vocabulary::{NAMESPACE, ONTOLOGY, PREFIXES, SHAPES};
pub use write::{Format, NotAFormat, write};
