//! The entry point of an agent: builds the state that all sessions of a process share, and gives
//! access to the sessions and their notifications.

use std::sync::Arc;

use forklore_core::{Header, SessionId};
use forklore_engine::Engine;

use crate::Result;
use crate::config::SessionConfig;
use crate::handle::KernelHandle;
use crate::hook::{Hook, Hooks};
use crate::notify::{Bus, Sink, Subscription};
use crate::session::{AgentSession, Home, Live, NewSession};

/// The state that all sessions of a process share. A clone refers to the same kernel.
#[derive(Clone)]
pub struct Kernel {
    home: Home,
}

/// Builds a [`Kernel`] from an engine, hooks and sinks.
#[must_use]
pub struct KernelBuilder {
    engine: Engine,
    hooks: Hooks,
    bus: Bus,
    application: String,
}

impl KernelBuilder {
    /// Adds a hook, which decides about operations of all sessions.
    pub fn hook(mut self, hook: Arc<dyn Hook>) -> Self {
        self.hooks.add(hook);
        self
    }

    /// Adds a sink, which receives the notifications of all sessions.
    pub fn sink(mut self, sink: Arc<dyn Sink>) -> Self {
        self.bus.add_sink(sink);
        self
    }

    /// Sets the application's name. Another runtime shows this name if it finds a session leased.
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

    /// Returns a new session, which the store does not contain yet.
    /// [`initialize`](AgentSession::initialize) creates it in the store, and so does the first
    /// operation that needs it there, such as a turn or a delegation. If the new session has a
    /// parent that is not open in this kernel, this function blocks while it reads the parent's ids
    /// from the store.
    #[must_use]
    pub fn create(&self, new: NewSession, config: SessionConfig) -> AgentSession {
        AgentSession::create(&self.home, new, config)
    }

    /// Opens an existing session to continue it. The session may come from this kernel, from
    /// another process or from an import.
    ///
    /// # Errors
    /// - `not_found`: the store has no session with this id, or the session was deleted. The
    ///   function never creates an empty session instead (docs/semantics.md, Writing).
    /// - `corrupt`: the session's data is damaged.
    pub async fn open(&self, id: &SessionId, config: SessionConfig) -> Result<AgentSession> {
        AgentSession::open(&self.home, id, config).await
    }

    /// Checks whether a runtime has leased the session now, according to `header`. Ignores a lease
    /// if the process of its owner is certainly gone.
    #[must_use]
    pub fn is_leased(&self, header: &Header) -> bool {
        self.engine().is_leased(header)
    }

    /// Subscribes to the notifications of all sessions of this kernel, through a queue. If the
    /// queue already has `capacity` entries, it drops new ephemeral notifications. If it has 16
    /// times as many entries, it drops all new notifications. The subscriber learns how many
    /// notifications it missed.
    #[must_use]
    pub fn subscribe(&self, capacity: usize) -> Subscription {
        self.home.kernel.bus().subscribe(capacity)
    }

    /// Returns the engine, with which the application reads and forks sessions without running
    /// them.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        self.home.kernel.engine()
    }

    /// Waits until the leases of all turns whose futures were dropped are released. Call this
    /// before the program ends: otherwise another runtime may find a session leased until the lease
    /// expires.
    pub async fn settle(&self) {
        self.home.kernel.settle().await;
    }
}
