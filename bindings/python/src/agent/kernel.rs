//! The kernel as a Python class.

use std::collections::{BTreeSet, HashSet};
use std::process;
use std::sync::Arc;

use forklore_agent::NewSession;
use forklore_core::workspace::Workspace;
use forklore_core::{Data, Label, SessionId};
use pyo3::prelude::*;
use serde::Deserialize;

use super::config::{self, invalid};
use super::hook::FunctionHook;
use super::runtime::check_process;
use super::session::Session;
use super::sink::FunctionSink;
use super::work::{Outcome, Work, start};
use crate::connection::Connection;

/// What the sessions of a process share.
#[pyclass(frozen, module = "forklore._native", name = "AgentKernel")]
pub(crate) struct Kernel {
    inner: forklore_agent::Kernel,
    process: u32,
}

/// A hook as the package describes it: its callables, its name, its priority and its methods.
type Hook = (Py<PyAny>, String, i32, HashSet<String>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct New {
    workspace: String,
    config: Option<Data>,
    id: Option<SessionId>,
    parent_id: Option<SessionId>,
    title: Option<String>,
    label: Option<Label>,
    metadata: Option<Data>,
    principal: Option<String>,
    permissions: Option<BTreeSet<String>>,
}

impl From<New> for NewSession {
    fn from(new: New) -> Self {
        Self {
            config: new.config,
            id: new.id,
            parent_id: new.parent_id,
            title: new.title,
            label: new.label,
            metadata: new.metadata,
            principal: new.principal,
            permissions: new.permissions,
            ..Self::in_workspace(Workspace::new(&new.workspace))
        }
    }
}

#[pymethods]
impl Kernel {
    /// Makes a kernel over the store of a connection. `listener` receives notifications: all of them,
    /// or only those that announce a child.
    #[new]
    fn new(
        connection: &Connection,
        hooks: Vec<Hook>,
        listener: Py<PyAny>,
        gets_all: bool,
        application: &str,
    ) -> PyResult<Self> {
        let mut builder = forklore_agent::Kernel::builder(connection.engine()?)
            .application(application)
            .sink(Arc::new(FunctionSink { callables: listener, gets_all }));
        for (callables, name, priority, methods) in hooks {
            builder = builder.hook(Arc::new(FunctionHook { callables, name, priority, methods }));
        }
        Ok(Self { inner: builder.build(), process: process::id() })
    }

    /// Returns a new session, which the store does not contain yet.
    fn create(
        &self,
        py: Python<'_>,
        new: &str,
        config: &str,
        callables: Py<PyAny>,
    ) -> PyResult<Session> {
        check_process(self.process)?;
        let new: New = config::read(new)?;
        let config = config::session(py, config, &callables)?;
        Ok(Session::of(py.detach(|| self.inner.create(new.into(), config))))
    }

    /// Opens an existing session.
    fn open(
        &self,
        py: Python<'_>,
        id: &str,
        config: &str,
        callables: Py<PyAny>,
        done: Py<PyAny>,
    ) -> PyResult<Work> {
        check_process(self.process)?;
        let id: SessionId = id.parse().map_err(invalid)?;
        let config = config::session(py, config, &callables)?;
        let kernel = self.inner.clone();
        start(None, done, async move {
            Ok(Session::outcome(kernel.open(&id, config).await?, "null".to_owned()))
        })
    }

    /// Waits until the leases of turns that were given up are released.
    fn settle(&self, done: Py<PyAny>) -> PyResult<Work> {
        check_process(self.process)?;
        let kernel = self.inner.clone();
        start(None, done, async move {
            kernel.settle().await;
            Ok(Outcome::Nothing)
        })
    }
}
