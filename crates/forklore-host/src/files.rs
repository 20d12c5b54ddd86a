//! The files of sessions: each turn whose tools can change them takes a snapshot before and after.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use forklore_agent::evidence::{Evidence, Seen};
use forklore_agent::tool::Tools as _;
use forklore_core::Header;
use forklore_engine::Engine;
use forklore_mcp_client::McpTools;
use forklore_workspace::{WorkspaceFiles, project_folder};
use futures_util::future::{BoxFuture, FutureExt};

use crate::{Error, Result};

/// A function that opens the snapshots of a store's workspaces.
pub type OpenFiles = dyn Fn() -> forklore_workspace::Result<WorkspaceFiles> + Send + Sync;

/// The snapshots of the files of all sessions of a host. Clones share them.
#[derive(Clone)]
pub(crate) struct Files(Arc<Shared>);

struct Shared {
    engine: Engine,
    /// The tools for whose turns snapshots are taken. `None` if turns take none.
    tools: Option<Arc<McpTools>>,
    open: Box<OpenFiles>,
    opened: OnceLock<WorkspaceFiles>,
    /// What was announced already: each problem is announced once.
    announced: Mutex<BTreeSet<String>>,
}

impl Files {
    pub(crate) fn new(engine: Engine, tools: Option<Arc<McpTools>>, open: Box<OpenFiles>) -> Self {
        let (opened, announced) = (OnceLock::new(), Mutex::default());
        Self(Arc::new(Shared { engine, tools, open, opened, announced }))
    }

    /// Runs a verb on the files on a thread where blocking is allowed.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        verb: impl FnOnce(&WorkspaceFiles, &Engine) -> forklore_workspace::Result<T> + Send + 'static,
    ) -> Result<T> {
        let files = self.0.clone();
        let done = tokio::task::spawn_blocking(move || verb(files.opened()?, &files.engine));
        Ok(done.await.map_err(|_| Error::Interrupted)??)
    }
}

impl Shared {
    fn opened(&self) -> forklore_workspace::Result<&WorkspaceFiles> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let opened = (self.open)()?;
        Ok(self.opened.get_or_init(|| opened))
    }

    fn is_new(&self, problem: &str) -> bool {
        let mut announced = self.announced.lock().unwrap_or_else(PoisonError::into_inner);
        announced.insert(problem.to_owned())
    }
}

impl Evidence for Files {
    fn name(&self) -> &'static str {
        "snapshot"
    }

    fn look<'a>(&'a self, session: &'a Header) -> BoxFuture<'a, Seen> {
        async move {
            let has_tools = self.0.tools.as_ref().is_some_and(|tools| !tools.specs().is_empty());
            let Some(folder) = folder_of(session).filter(|_| has_tools) else {
                return Seen::default();
            };
            let id = session.id.clone();
            let looked = self.run(move |files, engine| files.look(engine, &id, &folder)).await;
            match looked {
                Ok(event) => Seen { events: event.into_iter().collect(), problem: None },
                Err(error) => {
                    let problem = Some(error.to_string()).filter(|problem| self.0.is_new(problem));
                    Seen { events: Vec::new(), problem }
                }
            }
        }
        .boxed()
    }
}

/// Returns the folder with a session's files, if it is that of a project.
pub(crate) fn folder_of(session: &Header) -> Option<PathBuf> {
    project_folder(Path::new(session.workspace.as_str()))
}
