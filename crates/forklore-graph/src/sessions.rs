//! Answers queries about the sessions of any store, from a standing index if the store has a place
//! for one.

use std::time::{Duration, Instant};

use forklore_api::GraphScope as Scope;
use forklore_engine::Engine;
use forklore_store::disk::{self, CacheFolder};
use oxigraph::sparql::QueryEvaluationError;

use crate::graph::{Graph, LoadError};
use crate::index::{Dataset, Fault, Index, Selection};
use crate::projection::Projection;
use crate::query::{self, Answer, Query, QueryError};
use crate::store::AskError;

/// How often to begin again if another process empties the index meanwhile.
const ATTEMPTS: usize = 3;

/// The sessions of a store, as queries see them.
///
/// The graph of the sessions is in a standing index, a file in the store's cache folder
/// ([`cache_folder`](forklore_store::Store::cache_folder)). Each query first reads the sessions of
/// its scope that changed since the last one. Without such a folder, or if the index cannot be used,
/// a query reads all sessions of its scope into memory.
#[derive(Clone, Copy)]
pub struct Sessions<'a> {
    engine: &'a Engine,
}

/// The answer to a query about sessions, and what it took.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// The answer to the query.
    pub answer: Answer,
    /// How many sessions were read before the query could run.
    pub sessions: u64,
    /// How long it took to read the sessions.
    pub reading: Duration,
    /// How long the query itself took.
    pub answering: Duration,
}

impl<'a> Sessions<'a> {
    /// Returns the sessions of the store of `engine`. Reads nothing yet.
    #[must_use]
    pub fn of(engine: &'a Engine) -> Self {
        Self { engine }
    }

    /// Answers a SPARQL query about the sessions in `scope`, as they are at the time of the call.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn answer(&self, scope: &Scope, query: &Query<'_>) -> Result<Answered, AskError> {
        query.check()?;
        let selection = Selection::of(self.engine, scope).map_err(LoadError::from)?;
        if let Some(folder) = self.folder()
            && let Some(answered) = self.answer_from_index(&folder, &selection, query)
        {
            return answered.map_err(AskError::Query);
        }
        let began = Instant::now();
        let projection = Projection::new(self.engine, scope).map_err(LoadError::from)?;
        let sessions = projection.sessions();
        let graph = Graph::of(projection)?;
        let reading = began.elapsed();
        let answer = graph.answer(query)?;
        Ok(Answered { answer, sessions, reading, answering: began.elapsed() - reading })
    }

    /// Returns the store's cache folder. `None` if there can be no index in it.
    fn folder(&self) -> Option<CacheFolder> {
        let path = self.engine.store().cache_folder()?;
        // SQLite's WAL needs memory that the processes share, so all must run on one machine.
        let is_near = disk::network(disk::folder_of(&path)).is_none();
        is_near.then(|| CacheFolder::at(path))
    }

    /// Answers a query from the index. Returns `None` if the index cannot be used.
    fn answer_from_index(
        &self,
        folder: &CacheFolder,
        selection: &Selection,
        query: &Query<'_>,
    ) -> Option<Result<Answered, QueryError>> {
        for _ in 0..ATTEMPTS {
            let fault = match self.try_index(folder, selection, query) {
                Ok(Err(QueryError::Evaluation(QueryEvaluationError::Dataset(error)))) => {
                    *error.downcast::<Fault>().ok()?
                }
                Ok(answered) => return Some(answered),
                Err(fault) => fault,
            };
            let is_new = match fault {
                Fault::Emptied => true,
                fault if fault.is_damage() => Index::discard(folder),
                _ => false,
            };
            if !is_new {
                return None;
            }
        }
        None
    }

    fn try_index(
        &self,
        folder: &CacheFolder,
        selection: &Selection,
        query: &Query<'_>,
    ) -> Result<Result<Answered, QueryError>, Fault> {
        let began = Instant::now();
        let mut index = Index::open(folder)?;
        let (epoch, sessions) = index.update(self.engine, selection)?;
        let reading = began.elapsed();
        let selection = selection.clone();
        let open = move || Dataset::of(index, epoch, &selection);
        let answer = query::answer_from_index(open, query);
        Ok(answer.map(|answer| {
            let answering = began.elapsed() - reading;
            Answered { answer, sessions, reading, answering }
        }))
    }
}
