//! Answers the requests of the interface with data of the store. Only this module and its parts use
//! the engine.

mod change;
mod compare;
mod entry;
mod events;
mod find;
mod list;
mod rewind;
mod search;

use std::sync::Arc;

use forklore_engine::{Engine, Error};
use forklore_workspace::WorkspaceFiles;

use crate::request::{Answer, Failed, Request};
use crate::safe::Safe;

/// A worker that answers the requests of the interface. Clones share the store.
#[derive(Clone)]
pub struct Worker {
    engine: Engine,
    files: Option<Arc<WorkspaceFiles>>,
}

impl Worker {
    /// Creates a worker that uses this engine.
    #[must_use]
    pub fn new(engine: Engine) -> Self {
        Self { engine, files: None }
    }

    /// Lets the worker take files back, with these snapshots.
    #[must_use]
    pub fn with_files(self, files: Option<Arc<WorkspaceFiles>>) -> Self {
        Self { files, ..self }
    }

    /// Answers a request. If the request takes long, calls `progress` with intermediate answers.
    #[must_use]
    pub fn perform(&self, request: &Request, progress: &mut dyn FnMut(Answer)) -> Answer {
        let engine = &self.engine;
        let files = self.files.as_deref();
        let answer = match request {
            Request::List { workspace, trash, after, limit } => {
                list::page(engine, workspace.clone(), *trash, after.clone(), *limit)
            }
            Request::Words(sessions) => list::words(engine, sessions),
            Request::Rows { sessions, workspace } => {
                list::rows(engine, sessions, workspace.as_ref())
            }
            Request::Family(root) => list::family(engine, root),
            Request::Tree(session) => list::tree(engine, session),
            Request::Events(request) => events::read(engine, request),
            Request::Find(request) => find::find(engine, request),
            Request::Compare { a, b, common, from, limit } => {
                compare::pairs(engine, a, b, *common, *from, *limit)
            }
            Request::Search { words, workspace } => {
                search::search(engine, words, workspace.clone(), progress)
            }
            Request::PlanDelete(session) => Ok(change::plan_delete(engine, session)),
            Request::PlanRewind(request) => Ok(rewind::plan(engine, files, request)),
            Request::Change(change) => change::change(engine, files, change),
        };
        answer.unwrap_or_else(|error| match request {
            Request::Change(change) => Answer::Refused(change.clone(), failed(&error)),
            _ => Answer::Failed(failed(&error)),
        })
    }
}

fn failed(error: &Error) -> Failed {
    use forklore_core::ErrorKind;

    Failed {
        message: Safe::line(&error.to_string()),
        is_gone: error.kind() == ErrorKind::NotFound,
        has_children: error.kind() == ErrorKind::HasChildren,
    }
}
