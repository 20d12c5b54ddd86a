//! What the sessions of one process share: the engine, hooks, sinks, and who is alive.

use std::sync::Arc;

use forklore_core::{Header, SessionId};
use forklore_engine::Engine;

use crate::Result;
use crate::config::SessionConfig;
use crate::handle::KernelHandle;
use crate::hook::{Hook, Hooks};
use crate::lease_owner;
use crate::notify::{Bus, Sink, Subscription};
use crate::session::{AgentSession, Home, Live, NewSession};

/// What the sessions of one process share. A clone is the same kernel.
#[derive(Clone)]
pub struct Kernel {
    home: Home,
}

/// A kernel that is being put together.
#[must_use]
pub struct KernelBuilder {
    engine: Engine,
    hooks: Hooks,
    bus: Bus,
    application: String,
}

impl KernelBuilder {
    /// Adds a hook.
    pub fn hook(mut self, hook: Arc<dyn Hook>) -> Self {
        self.hooks.add(hook);
        self
    }

    /// Adds a sink.
    pub fn sink(mut self, sink: Arc<dyn Sink>) -> Self {
        self.bus.add_sink(sink);
        self
    }

    /// Names the application. A runtime that finds a session in use gets this name.
    pub fn application(mut self, name: &str) -> Self {
        name.clone_into(&mut self.application);
        self
    }

    /// The kernel.
    #[must_use]
    pub fn build(self) -> Kernel {
        let Self { engine, hooks, bus, application } = self;
        let kernel = KernelHandle::new(engine, hooks, bus, application);
        Kernel { home: Home { kernel, live: Arc::new(Live::default()) } }
    }
}

impl Kernel {
    /// A kernel over `engine`, to which hooks and sinks can be added.
    pub fn builder(engine: Engine) -> KernelBuilder {
        KernelBuilder {
            engine,
            hooks: Hooks::default(),
            bus: Bus::default(),
            application: "forklore-agent".into(),
        }
    }

    /// A session that is to be made. Nothing is stored before it is
    /// [initialized](AgentSession::initialize), which its first turn does too.
    #[must_use]
    pub fn create(&self, new: NewSession, config: SessionConfig) -> AgentSession {
        AgentSession::planned(&self.home, new, config)
    }

    /// A session that exists, to go on with: one of this kernel's, one of another process, or one
    /// that was imported.
    ///
    /// # Errors
    /// `not_found`, `corrupt`: never a new empty session (SPEC 9).
    pub async fn open(&self, id: &SessionId, config: SessionConfig) -> Result<AgentSession> {
        AgentSession::open(&self.home, id, config).await
    }

    /// Whether a runtime holds a session now, as far as its header tells: one whose process is gone
    /// for certain holds nothing.
    #[must_use]
    pub fn is_leased(&self, header: &Header) -> bool {
        let now = self.engine().now();
        header
            .lease
            .as_ref()
            .is_some_and(|lease| lease.expires > now && !lease_owner::is_gone(&lease.owner))
    }

    /// Listens to every session of this kernel. The queue holds `capacity` notifications; a
    /// listener that is slower learns how many it missed.
    #[must_use]
    pub fn subscribe(&self, capacity: usize) -> Subscription {
        self.home.kernel.bus().subscribe(capacity)
    }

    /// The verbs over the store.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        self.home.kernel.engine()
    }

    /// Waits until every lease of a turn whose future was dropped has been given back. A program
    /// calls it before it ends, so that nobody finds the session held.
    pub async fn settle(&self) {
        self.home.kernel.settle().await;
    }
}
