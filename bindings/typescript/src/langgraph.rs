//! The core of the saver for LangGraph, as a class of JavaScript.

use forklore_bindings::Failure;
use forklore_core::workspace::Workspace;
use forklore_langgraph::Saver;
use napi::Result;
use napi::bindgen_prelude::{AsyncTask, ToNapiValue, TypeName};
use napi_derive::napi;

use crate::connection::Connection;
use crate::framework::Face;
use crate::work::Work;

/// Stores checkpoints of LangGraph. Requests and answers are JSON; several calls may run at once.
#[napi]
pub struct LangGraph {
    face: Face<Saver>,
}

impl LangGraph {
    fn answer<T: ToNapiValue + TypeName + Send + 'static>(
        &self,
        call: impl FnOnce(&Saver) -> forklore_langgraph::Result<T> + Send + 'static,
    ) -> AsyncTask<Work<T>> {
        self.face.answer(move |saver| call(saver).map_err(Failure::from))
    }
}

#[napi]
impl LangGraph {
    /// Uses the store of a connection. The sessions belong to the folder `workspace`.
    #[napi(constructor)]
    pub fn new(connection: &Connection, workspace: String) -> Result<Self> {
        let workspace = Workspace::new(&workspace);
        let face = Face::new(connection, |engine| Saver::new(engine, workspace))?;
        Ok(Self { face })
    }

    /// Stores a checkpoint.
    #[napi]
    pub fn put(&self, request: String) -> AsyncTask<Work<String>> {
        self.answer(move |saver| saver.put(&request))
    }

    /// Stores the writes of a task.
    #[napi]
    pub fn put_writes(&self, request: String) -> AsyncTask<Work<()>> {
        self.answer(move |saver| saver.put_writes(&request))
    }

    /// Reads checkpoints.
    #[napi]
    pub fn get(&self, request: String) -> AsyncTask<Work<String>> {
        self.answer(move |saver| saver.get(&request))
    }

    /// Lists checkpoints.
    #[napi]
    pub fn list(&self, request: String) -> AsyncTask<Work<String>> {
        self.answer(move |saver| saver.list(&request))
    }

    /// Reads the texts of elements.
    #[napi]
    pub fn elements(&self, request: String) -> AsyncTask<Work<String>> {
        self.answer(move |saver| saver.elements(&request))
    }

    /// Reads the writes from which values of channels are computed.
    #[napi]
    pub fn history(&self, request: String) -> AsyncTask<Work<String>> {
        self.answer(move |saver| saver.history(&request))
    }

    /// Copies a thread.
    #[napi]
    pub fn copy_thread(&self, source: String, target: String) -> AsyncTask<Work<()>> {
        self.answer(move |saver| saver.copy_thread(&source, &target))
    }

    /// Deletes a thread.
    #[napi]
    pub fn delete_thread(&self, thread_id: String) -> AsyncTask<Work<()>> {
        self.answer(move |saver| saver.delete_thread(&thread_id))
    }

    /// Removes all checkpoints of a thread but the newest.
    #[napi]
    pub fn prune(&self, thread_id: String) -> AsyncTask<Work<()>> {
        self.answer(move |saver| saver.prune(&thread_id))
    }

    /// Removes the checkpoints of runs.
    #[napi]
    pub fn delete_for_runs(&self, runs: Vec<String>) -> AsyncTask<Work<()>> {
        self.answer(move |saver| saver.delete_for_runs(&runs))
    }
}
