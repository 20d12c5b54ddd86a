//! The state that the sessions of one process share: the engine, hooks, sinks and the live
//! sessions.

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

/// The state that the sessions of one process share. A clone refers to the same kernel.
#[derive(Clone)]
pub struct Kernel {
    home: Home,
}

/// Builds a [`Kernel`].
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

    /// Sets the application's name. Another runtime that finds a session in use reports this name.
    pub fn application(mut self, name: &str) -> Self {
        name.clone_into(&mut self.application);
        self
    }

    /// Builds the kernel.
    #[must_use]
    pub fn build(self) -> Kernel {
        let Self { engine, hooks, bus, application } = self;
        let kernel = KernelHandle::new(engine, hooks, bus, application);
        Kernel { home: Home { kernel, live: Arc::new(Live::default()) } }
    }
}

impl Kernel {
    /// Returns a builder for a kernel over `engine`.
    pub fn builder(engine: Engine) -> KernelBuilder {
        KernelBuilder {
            engine,
            hooks: Hooks::default(),
            bus: Bus::default(),
            application: "forklore-agent".into(),
        }
    }

    /// Returns a new session. Nothing is stored until it is
    /// [initialized](AgentSession::initialize), which its first turn also does.
    #[must_use]
    pub fn create(&self, new: NewSession, config: SessionConfig) -> AgentSession {
        AgentSession::planned(&self.home, new, config)
    }

    /// Opens an existing session to continue it: one of this kernel, one of another process, or an
    /// imported one.
    ///
    /// # Errors
    /// `not_found`, `corrupt`. It never creates a new empty session instead (docs/semantics.md,
    /// Writing).
    pub async fn open(&self, id: &SessionId, config: SessionConfig) -> Result<AgentSession> {
        AgentSession::open(&self.home, id, config).await
    }

    /// Checks whether a runtime holds the session's lease now, according to its header. A lease
    /// does not count if the process of its owner is certainly gone.
    #[must_use]
    pub fn is_leased(&self, header: &Header) -> bool {
        let now = self.engine().now();
        header
            .lease
            .as_ref()
            .is_some_and(|lease| lease.expires > now && !lease_owner::is_gone(&lease.owner))
    }

    /// Subscribes to the notifications of all sessions of this kernel. Ephemeral notifications are
    /// dropped while the queue has `capacity` entries, others while it has 16 times as many. The
    /// listener gets the number of those that it missed.
    #[must_use]
    pub fn subscribe(&self, capacity: usize) -> Subscription {
        self.home.kernel.bus().subscribe(capacity)
    }

    /// Returns the engine over the store.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        self.home.kernel.engine()
    }

    /// Waits until every lease of a turn whose future was dropped is released. Call it before the
    /// program ends, so that no other runtime finds the session locked.
    pub async fn settle(&self) {
        self.home.kernel.settle().await;
    }
}
