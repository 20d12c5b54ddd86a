//! The core of the session store for the Claude Agent SDK, as a Python class.

use std::cell::RefCell;

use forklore_bindings::{
    ClaudeKey, ClaudeSessions as Sessions, Core, Failure, Listed, NewFork, SummaryOf,
};
use forklore_core::workspace::Workspace;
use forklore_engine::Error;
use pyo3::prelude::*;

use crate::connection::Connection;
use crate::failure::raised;

/// What `append` tells the function that makes a summary: the summary before, whether the transcript
/// is new, and the indexes of the new records.
type Fold<'s> = (Option<&'s str>, bool, Vec<usize>);

/// A transcript in a list: its name, the time of its last record, and its summary.
type Row = (String, i64, Option<String>);

/// Stores the transcripts of Claude Agent SDKs. Several threads may call at once.
#[pyclass(frozen, module = "forklore._native")]
pub(crate) struct ClaudeSessions {
    core: Core<Sessions>,
}

impl ClaudeSessions {
    /// Calls the session store.
    fn answer<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&Sessions) -> Result<T, Failure> + Send,
    ) -> PyResult<T> {
        py.detach(|| self.core.call(call)).map_err(raised)
    }
}

#[pymethods]
impl ClaudeSessions {
    /// Uses the store of a connection. Sessions whose records name no folder belong to `workspace`.
    #[new]
    fn new(connection: PyRef<'_, Connection>, workspace: &str) -> PyResult<Self> {
        let workspace = Workspace::new(workspace);
        let core = connection.core(|engine| Ok(Sessions::new(engine.clone(), workspace)))?;
        Ok(Self { core })
    }

    /// Appends records to a transcript, each as JSON. Returns how many were new.
    #[pyo3(signature = (project, session, subpath, lines, fold=None))]
    fn append(
        &self,
        py: Python<'_>,
        project: &str,
        session: &str,
        subpath: Option<&str>,
        lines: Vec<String>,
        fold: Option<Py<PyAny>>,
    ) -> PyResult<usize> {
        let result = py.detach(|| {
            let thrown = RefCell::new(None);
            let mut summary = |of: SummaryOf<'_>| {
                let Some(fold) = &fold else { return Ok(None) };
                let folded = Python::attach(|py| folded(py, fold, of));
                folded.map(Some).map_err(|error| {
                    *thrown.borrow_mut() = Some(error);
                    Error::invalid("summary", "the function that makes summaries failed")
                })
            };
            let added = self.core.call(|sessions| {
                sessions.append(&ClaudeKey::new(project, session, subpath)?, lines, &mut summary)
            });
            added.map_err(|failure| thrown.take().ok_or(failure))
        });
        result.map_err(|thrown| thrown.unwrap_or_else(raised))
    }

    /// Returns the records of a transcript as a JSON list.
    #[pyo3(signature = (project, session, subpath=None))]
    fn load(
        &self,
        py: Python<'_>,
        project: &str,
        session: &str,
        subpath: Option<&str>,
    ) -> PyResult<Option<String>> {
        self.answer(py, |sessions| sessions.load(&ClaudeKey::new(project, session, subpath)?))
    }

    /// Lists the sessions of a project.
    fn sessions(&self, py: Python<'_>, project: &str) -> PyResult<Vec<Row>> {
        self.answer(py, |sessions| Ok(rows(sessions.sessions(project)?)))
    }

    /// Returns the summary of a session, if there is one of the whole transcript.
    fn summary(&self, py: Python<'_>, project: &str, session: &str) -> PyResult<Option<String>> {
        self.answer(py, |sessions| sessions.summary(&ClaudeKey::new(project, session, None)?))
    }

    /// Lists the sub-agents of a session.
    fn sub_agents(&self, py: Python<'_>, project: &str, session: &str) -> PyResult<Vec<Row>> {
        self.answer(py, |sessions| {
            Ok(rows(sessions.sub_agents(&ClaudeKey::new(project, session, None)?)?))
        })
    }

    /// Deletes a transcript.
    fn delete(
        &self,
        py: Python<'_>,
        project: &str,
        session: &str,
        subpath: Option<&str>,
        erase: bool,
    ) -> PyResult<()> {
        self.answer(py, |sessions| {
            sessions.delete(&ClaudeKey::new(project, session, subpath)?, erase)
        })
    }

    /// Forks a session. `about` is the title and the summary of the fork. Returns the id of the fork for the verbs of the store.
    fn fork(
        &self,
        py: Python<'_>,
        project: &str,
        session: &str,
        new_id: &str,
        record: Option<&str>,
        about: (Option<String>, Option<String>),
    ) -> PyResult<Option<String>> {
        self.answer(py, |sessions| {
            let key = ClaudeKey::new(project, session, None)?;
            let (title, summary) = about;
            let summary = summary.as_deref();
            let fork = NewFork { session_id: new_id, record, title, summary };
            Ok(sessions.fork(&key, fork)?.map(|id| id.to_string()))
        })
    }

    /// Returns the id of a transcript's session for the verbs of the store.
    #[pyo3(signature = (project, session, subpath=None))]
    fn session(
        &self,
        py: Python<'_>,
        project: &str,
        session: &str,
        subpath: Option<&str>,
    ) -> PyResult<Option<String>> {
        self.answer(py, |sessions| {
            let found = sessions.session(&ClaudeKey::new(project, session, subpath)?)?;
            Ok(found.map(|id| id.to_string()))
        })
    }
}

fn folded(py: Python<'_>, fold: &Py<PyAny>, of: SummaryOf<'_>) -> PyResult<String> {
    let SummaryOf { before, is_new, fresh } = of;
    let arguments: Fold<'_> = (before, is_new, fresh.to_vec());
    fold.bind(py).call1(arguments)?.extract()
}

fn rows(listed: Vec<Listed>) -> Vec<Row> {
    listed.into_iter().map(|Listed { name, modified, summary }| (name, modified, summary)).collect()
}
