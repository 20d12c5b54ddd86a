//! Sessions as a knowledge graph: RDF in the words of PROV-O, and SPARQL over it.
//!
//! [`Projection`] tells the sessions of any store as quads, [`write()`] writes them in five forms,
//! [`Graph`] answers queries about them. The words are in [`ONTOLOGY`], and what a graph has to
//! look like in [`SHAPES`]; neither changes a session. [`GraphStore`] is a
//! store that keeps its graph standing: a journal in the form of the files store, and the quads of it
//! in memory.

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
/// The library of RDF terms that this crate speaks in.
pub use oxigraph::model as terms;
pub use profile::{NotAProfile, Profile, TRAILS_DEPTH};
pub use projection::{Projection, Scope};
pub use query::{Answer, Query, QueryError};
pub use results::{NotAResultForm, ResultForm};
pub use store::{AskError, GraphStore, JOURNAL};
pub use term::{NotATerm, term};
pub use vocabulary::{NAMESPACE, ONTOLOGY, PREFIXES, SHAPES};
pub use write::{Format, NotAFormat, write};
