//! The sessions that people talk to through this server.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use forklore_core::workspace::Workspace;
use forklore_core::{ErrorKind, SessionId};
use forklore_engine::Engine;
use forklore_host::Host;
use forklore_web::Pages;
use tokio::sync::watch;

use crate::refused::{Answer, Refused};
use crate::talk::Talk;

/// How many sessions are open before those that nobody uses are closed.
const OPEN: usize = 256;
/// How long turns may take to end after they were interrupted because the server stops.
const LEAVE: Duration = Duration::from_secs(8);

/// The agent that answers.
#[derive(Clone)]
pub struct Agent {
    /// The configured models and tools.
    pub host: Arc<Host>,
    /// The folder of new sessions, unless somebody names another one.
    pub folder: Workspace,
    /// How a user calls the program, for commands that are shown.
    pub program: String,
}

/// The conversations of a server. Clones share them.
#[derive(Clone)]
pub struct Chat(Arc<Inner>);

pub(crate) struct Inner {
    agent: Option<Agent>,
    pub(crate) pages: Pages,
    /// Names this run of the server in the ids of events.
    pub(crate) run: String,
    talks: Mutex<HashMap<SessionId, Arc<Talk>>>,
    stopping: watch::Sender<bool>,
}

impl Chat {
    /// Creates the conversations of a server. Without an agent, every request is told how to get one.
    #[must_use]
    pub fn new(agent: Option<Agent>, pages: Pages) -> Self {
        let run = pages.engine.new_id().to_string();
        let (talks, stopping) = (Mutex::default(), watch::Sender::new(false));
        Self(Arc::new(Inner { agent, pages, run, talks, stopping }))
    }

    /// Interrupts all turns, ends the streams, and refuses further turns.
    pub fn stop(&self) {
        self.0.stopping.send_replace(true);
        for talk in self.talks().values() {
            let _ = talk.interrupt();
        }
    }

    /// Waits a while for the interrupted turns to end, and stops the tool servers.
    pub async fn close(&self) {
        let Some(agent) = &self.0.agent else { return };
        let talks: Vec<_> = self.talks().values().cloned().collect();
        let ending = async {
            for talk in talks {
                drop(talk.seat.lock().await);
            }
            agent.host.close().await;
        };
        let _ = tokio::time::timeout(LEAVE, ending).await;
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.0
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.0.pages.engine
    }

    pub(crate) fn stopping(&self) -> watch::Receiver<bool> {
        self.0.stopping.subscribe()
    }

    /// Returns the agent.
    pub(crate) fn agent(&self) -> Answer<&Agent> {
        if *self.0.stopping.borrow() {
            let detail = "the server is stopping";
            return Err(Refused::new(ErrorKind::Interrupted, detail).or_try("repeat the request"));
        }
        self.0.agent.as_ref().ok_or_else(|| {
            Refused::new(ErrorKind::Unsupported, "this server does not run an agent")
                .or_try("start it with: forklore serve --chat")
        })
    }

    /// Returns the agent, if this server has one.
    pub(crate) fn agent_if_any(&self) -> Option<&Agent> {
        self.0.agent.as_ref()
    }

    /// Returns the conversation with a session, which the store must have.
    pub(crate) async fn talk(&self, id: &SessionId) -> Answer<Arc<Talk>> {
        self.agent()?;
        let (engine, shown) = (self.engine().clone(), id.clone());
        let broken = |_| Refused::new(ErrorKind::Internal, "the call ended without an answer");
        tokio::task::spawn_blocking(move || engine.show(&shown)).await.map_err(broken)??;
        let mut talks = self.talks();
        if talks.len() >= OPEN {
            talks.retain(|_, talk| Arc::strong_count(talk) > 1 || talk.is_needed());
        }
        let talk = talks.entry(id.clone()).or_insert_with(|| Arc::new(Talk::new(id.clone())));
        Ok(talk.clone())
    }

    fn talks(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Talk>>> {
        self.0.talks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
