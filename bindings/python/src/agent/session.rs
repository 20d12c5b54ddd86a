//! A session that can run turns, as a Python class.

use std::mem;
use std::process;

use forklore_agent::{AgentSession, Delegated, Error, Prompt, Result, SessionConfig, Turn};
use forklore_core::{Data, Part};
use forklore_engine::Fork;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::config;
use super::runtime::check_process;
use super::tools::event;
use super::work::{Outcome, Work, start};

/// A session that can run turns, one at a time.
#[pyclass(frozen, module = "forklore._native", name = "AgentSession")]
pub(crate) struct Session {
    inner: AgentSession,
    process: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPrompt {
    text: String,
    parts: Vec<Part>,
}

/// A session's configuration and the object that calls its Python functions.
type Equipment = (String, Py<PyAny>);

#[pymethods]
impl Session {
    /// The session's id. It may change during a turn.
    #[getter]
    fn id(&self) -> String {
        self.inner.id().to_string()
    }

    /// The id of the session's parent; None for a root.
    #[getter]
    fn parent_id(&self) -> Option<String> {
        self.inner.identity().parent_id.map(|id| id.to_string())
    }

    /// The id of the root of the session's family.
    #[getter]
    fn root_id(&self) -> String {
        self.inner.identity().root_id.to_string()
    }

    /// Whether a turn or other work of the session runs in this process.
    #[getter]
    fn is_running(&self) -> bool {
        self.inner.is_running()
    }

    /// Creates the session in the store, once.
    fn initialize(&self, done: Py<PyAny>) -> PyResult<Work> {
        self.start(done, |session| async move {
            session.equipment().model.ready().map_err(Error::NotReady)?;
            session.initialize().await?;
            Ok(Outcome::Nothing)
        })
    }

    /// Runs a turn.
    fn execute(&self, prompt: &str, done: Py<PyAny>) -> PyResult<Work> {
        let prompt: WrittenPrompt = config::read(prompt)?;
        let prompt = prompt.parts.into_iter().fold(Prompt::from(prompt.text), Prompt::with);
        self.start(done, |session| async move { written(&session.execute(prompt).await?) })
    }

    /// Continues a turn that was interrupted or broke off.
    fn resume(&self, done: Py<PyAny>) -> PyResult<Work> {
        self.start(done, |session| async move { written(&session.resume().await?) })
    }

    /// Forks the session. With `summarizes`, the model writes a summary for the child.
    #[pyo3(signature = (request, equipment, summarizes, done))]
    fn fork(
        &self,
        py: Python<'_>,
        request: &str,
        equipment: Equipment,
        summarizes: bool,
        done: Py<PyAny>,
    ) -> PyResult<Work> {
        let request: Fork = config::read(request)?;
        let config = config::session(py, &equipment.0, &equipment.1)?;
        self.start(done, move |session| async move {
            let branched = if summarizes {
                session.fork_with_summary(request).await?.0
            } else {
                session.fork(request).await?
            };
            let report = Data::of(&branched.forked)?;
            equip(&branched.child, config);
            Ok(Self::outcome(branched.child, report.get().to_owned()))
        })
    }

    /// Lets a sub-agent do a task, between turns.
    #[pyo3(signature = (task, config, callables, done))]
    fn delegate(
        &self,
        task: &str,
        config: Option<&str>,
        callables: Option<Py<PyAny>>,
        done: Py<PyAny>,
    ) -> PyResult<Work> {
        let task = config::delegate(task, config, callables)?;
        self.start(done, |session| async move { delegated(session.delegate(task).await?) })
    }

    /// Compacts the history.
    fn compact(&self, done: Py<PyAny>) -> PyResult<Work> {
        self.start(done, |session| async move { Outcome::of(&session.compact().await?) })
    }

    /// Reports how full the context window is.
    fn gauge(&self, done: Py<PyAny>) -> PyResult<Work> {
        self.start(done, |session| async move { Outcome::of(&session.gauge().await?) })
    }

    /// Announces an event of the application.
    fn announce(&self, name: &str, data: &str, done: Py<PyAny>) -> PyResult<Work> {
        let event = event(name, data)?;
        self.start(done, |session| async move {
            session.announce(event);
            Ok(Outcome::Nothing)
        })
    }

    /// Interrupts the running turn or other work, and reports whether something was interrupted.
    fn interrupt(&self, done: Py<PyAny>) -> PyResult<Work> {
        check_process(self.process)?;
        let session = self.inner.clone();
        start(None, done, async move { Outcome::of(&session.interrupt()) })
    }

    /// Ends the session in this process.
    fn cleanup(&self, cascade_children: bool, done: Py<PyAny>) -> PyResult<Work> {
        check_process(self.process)?;
        let session = self.inner.clone();
        start(None, done, async move {
            session.cleanup(cascade_children).await;
            Ok(Outcome::Nothing)
        })
    }

    /// Changes the configuration, from the next turn on.
    fn equip(&self, py: Python<'_>, config: &str, callables: Py<PyAny>) -> PyResult<()> {
        let config = config::session(py, config, &callables)?;
        equip(&self.inner, config);
        Ok(())
    }
}

impl Session {
    pub(super) fn of(inner: AgentSession) -> Self {
        Self { inner, process: process::id() }
    }

    /// Returns the outcome that is a session, with what was reported about it as JSON.
    pub(super) fn outcome(inner: AgentSession, report: String) -> Outcome {
        Outcome::Object(Box::new(move |py| {
            let session = Py::new(py, Self::of(inner))?;
            Ok((session, report).into_pyobject(py)?.into_any().unbind())
        }))
    }

    /// Starts an operation of the session, which an interruption interrupts.
    fn start<F>(&self, done: Py<PyAny>, work: impl FnOnce(AgentSession) -> F) -> PyResult<Work>
    where
        F: Future<Output = Result<Outcome>> + Send + 'static,
    {
        check_process(self.process)?;
        start(Some(self.inner.clone()), done, work(self.inner.clone()))
    }
}

/// Replaces the configuration of a session. The former one is dropped outside of the session's lock,
/// because Python code may run then.
fn equip(session: &AgentSession, config: SessionConfig) {
    let mut config = config;
    session.equip(|current| mem::swap(current, &mut config));
}

/// Returns a turn as JSON.
fn written(turn: &Turn) -> Result<Outcome> {
    #[derive(Serialize)]
    struct Written<'a> {
        session_id: &'a forklore_core::SessionId,
        moved_from: Option<&'a forklore_core::SessionId>,
        status: &'static str,
        reason: Option<&'a str>,
        text: &'a str,
        model_calls: u32,
        tool_calls: u32,
        usage: serde_json::Value,
        head_seq: i64,
    }
    let reason = match &turn.status {
        forklore_agent::Status::Incomplete(reason) => Some(reason.as_str()),
        _ => None,
    };
    Outcome::of(&Written {
        session_id: &turn.session_id,
        moved_from: turn.moved_from.as_ref(),
        status: turn.status.as_str(),
        reason,
        text: &turn.text,
        model_calls: turn.model_calls,
        tool_calls: turn.tool_calls,
        usage: json!(turn.usage),
        head_seq: turn.head_seq,
    })
}

/// Returns the turn of a sub-agent as JSON.
pub(super) fn delegated(delegated: Delegated) -> Result<Outcome> {
    written(&delegated.turn?)
}
