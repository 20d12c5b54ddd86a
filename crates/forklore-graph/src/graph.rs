//! An in-memory graph that contains the quads of a projection and answers queries.

use forklore_core::ErrorKind;
use oxigraph::model::Quad;
use oxigraph::store::{StorageError, Store};

use crate::query::{self, Answer, Query, QueryError};

/// A set of RDF quads in memory, which queries can read.
#[derive(Clone)]
pub struct Graph {
    pub(crate) store: Store,
}

/// Why a graph could not be built or updated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The sessions could not be read from the session store.
    #[error(transparent)]
    Sessions(#[from] forklore_engine::Error),
    /// The quads could not be stored in memory.
    #[error("the graph cannot be kept: {0}")]
    Storage(#[from] StorageError),
}

impl LoadError {
    /// Returns the kind of this error, as scripts see it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Sessions(error) => error.kind(),
            Self::Storage(_) => ErrorKind::Internal,
        }
    }
}

impl Graph {
    /// Builds a graph from RDF quads, such as those of a [`Projection`](crate::Projection).
    ///
    /// # Errors
    /// The first error among the quads, or an error of the graph's memory.
    pub fn of(
        quads: impl IntoIterator<Item = forklore_engine::Result<Vec<Quad>>>,
    ) -> Result<Self, LoadError> {
        let store = Store::new()?;
        let mut loader = store.bulk_loader();
        let mut batch = Vec::new();
        for some in quads {
            batch.extend(some?);
            if batch.len() >= BATCH {
                loader.load_quads(batch.drain(..))?;
            }
        }
        loader.load_quads(batch)?;
        loader.commit()?;
        Ok(Self { store })
    }

    /// Returns the number of quads in the graph.
    ///
    /// # Errors
    /// If the quads cannot be read from memory.
    pub fn len(&self) -> Result<usize, StorageError> {
        self.store.len()
    }

    /// Iterates over all quads of the graph, in no particular order.
    pub fn quads(&self) -> impl Iterator<Item = Result<Quad, StorageError>> {
        self.store.iter()
    }

    /// Checks whether the graph has no quads.
    ///
    /// # Errors
    /// If the quads cannot be read from memory.
    pub fn is_empty(&self) -> Result<bool, StorageError> {
        self.store.is_empty()
    }

    /// Answers a SPARQL query on this graph. Unless the query names a dataset, it reads the union
    /// of all named graphs.
    ///
    /// # Errors
    /// See [`QueryError`].
    pub fn answer(&self, query: &Query<'_>) -> Result<Answer, QueryError> {
        query::answer(&self.store, query)
    }
}

const BATCH: usize = 10_000;
