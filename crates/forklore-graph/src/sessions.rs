//! Answers queries about the sessions of any store. Uses a persistent index if the store has a
//! cache folder.

use std::time::{Duration, Instant};

use forklore_api::GraphScope as Scope;
use forklore_engine::Engine;
use forklore_index::folder_of;
use forklore_store::disk::CacheFolder;
use oxigraph::sparql::QueryEvaluationError;

use crate::graph::{Graph, LoadError};
use crate::index::{Dataset, Fault, Index, LAYOUT, Selection};
use crate::projection::Projection;
use crate::query::{self, Answer, Query, QueryError};
use crate::store::AskError;

/// The sessions of a store, as queries see them.
///
/// The graph of the sessions is in a persistent index, a file in the store's cache folder
/// ([`cache_folder`](forklore_store::Store::cache_folder)). Each query first reads those sessions
/// of its scope that changed since the previous query. If the store has no such folder, or if the
/// index cannot be used, a query reads all sessions of its scope into memory.
#[derive(Clone, Copy)]
pub struct Sessions<'a> {
    engine: &'a Engine,
}

/// The answer to a query about sessions, with the number of sessions read and the time taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// The answer to the query.
    pub answer: Answer,
    /// How many sessions were read before the query could run.
    pub sessions: u64,
    /// How long the reading of these sessions took.
    pub reading: Duration,
    /// How long the query took after these sessions were read.
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
        if let Some(folder) = folder_of(self.engine.store())
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

    /// Answers a query from the index. Returns `None` if the index cannot be used.
    fn answer_from_index(
        &self,
        folder: &CacheFolder,
        selection: &Selection,
        query: &Query<'_>,
    ) -> Option<Result<Answered, QueryError>> {
        let ask = |index| match self.ask_index(Index(index), selection, query)? {
            Err(QueryError::Evaluation(QueryEvaluationError::Dataset(error))) => {
                // A fault of the index, which a new index may not have.
                match error.downcast::<Fault>() {
                    Ok(fault) => Err(*fault),
                    Err(other) => {
                        Ok(Err(QueryError::Evaluation(QueryEvaluationError::Dataset(other))))
                    }
                }
            }
            answered => Ok(answered),
        };
        forklore_index::answer(folder, &LAYOUT, ask).ok()
    }

    fn ask_index(
        &self,
        mut index: Index,
        selection: &Selection,
        query: &Query<'_>,
    ) -> Result<Result<Answered, QueryError>, Fault> {
        let began = Instant::now();
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
