//! What the sessions of one process share: the engine, hooks, sinks, and who is alive.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use forklore_core::{Header, SessionId};
use forklore_engine::{Engine, Result as EngineResult};
use tokio::task::JoinHandle;

use crate::holder;
use crate::hook::{Hook, Hooks};
use crate::notify::{Bus, Notification, Sink, Subscription};
use crate::session::Inner;
use crate::{AgentSession, Equipment, NewSession, Result};

/// What the sessions of one process share. A clone is the same kernel.
#[derive(Clone)]
pub struct Kernel {
    shared: Arc<Shared>,
}

struct Shared {
    engine: Engine,
    hooks: Hooks,
    bus: Bus,
    application: String,
    live: Mutex<Vec<Weak<Inner>>>,
    /// Leases on their way back whose turns were dropped.
    leaving: Mutex<Vec<JoinHandle<()>>>,
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

    /// Names the application: others that find a session held are told so.
    pub fn application(mut self, name: &str) -> Self {
        name.clone_into(&mut self.application);
        self
    }

    /// The kernel.
    #[must_use]
    pub fn build(self) -> Kernel {
        let Self { engine, hooks, bus, application } = self;
        let (live, leaving) = (Mutex::default(), Mutex::default());
        let shared = Shared { engine, hooks, bus, application, live, leaving };
        Kernel { shared: Arc::new(shared) }
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
    pub fn create(&self, new: NewSession, equipment: Equipment) -> AgentSession {
        AgentSession::planned(self, new, equipment)
    }

    /// A session that exists, to go on with: one of this kernel's, one of another process, or one
    /// that was imported.
    ///
    /// # Errors
    /// `not_found`, `corrupt`: never a new empty session (SPEC 9).
    pub async fn open(&self, id: &SessionId, equipment: Equipment) -> Result<AgentSession> {
        let wanted = id.clone();
        let header = self.run(move |engine| engine.show(&wanted)).await?;
        Ok(AgentSession::of(self, &header, equipment))
    }

    /// Whether a runtime holds a session now, as far as its header tells: one whose process is gone
    /// for certain holds nothing.
    #[must_use]
    pub fn is_held(&self, header: &Header) -> bool {
        let now = self.engine().now();
        header
            .lease
            .as_ref()
            .is_some_and(|lease| lease.expires > now && !holder::is_gone(&lease.owner))
    }

    /// Listens to every session of this kernel. The queue holds `capacity` notifications; a
    /// listener that is slower is told how many it missed.
    #[must_use]
    pub fn subscribe(&self, capacity: usize) -> Subscription {
        self.shared.bus.subscribe(capacity)
    }

    /// The verbs over the store.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.shared.engine
    }

    /// Carries out a verb where it may block.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        verb: impl FnOnce(&Engine) -> EngineResult<T> + Send + 'static,
    ) -> Result<T> {
        let engine = self.shared.engine.clone();
        Ok(tokio::task::spawn_blocking(move || verb(&engine)).await??)
    }

    /// Waits until nothing of a turn whose future was dropped is left: its session's lease is on its
    /// way back meanwhile. A program that ends waits for it, so that nobody finds the session held.
    pub async fn settle(&self) {
        let leaving = std::mem::take(&mut *self.leaving());
        for release in leaving {
            // One that failed runs out by itself.
            let _ = release.await;
        }
    }

    /// Remembers a lease that is on its way back.
    pub(crate) fn leaves(&self, release: JoinHandle<()>) {
        let mut leaving = self.leaving();
        leaving.retain(|release| !release.is_finished());
        leaving.push(release);
    }

    fn leaving(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.shared.leaving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn hooks(&self) -> &Hooks {
        &self.shared.hooks
    }

    pub(crate) fn announce(&self, notification: &Arc<Notification>) {
        self.shared.bus.announce(notification);
    }

    pub(crate) fn is_heard(&self) -> bool {
        self.shared.bus.is_heard()
    }

    /// A name for a runtime that no other one has.
    pub(crate) fn new_owner(&self) -> String {
        let unique = self.shared.engine.new_id();
        holder::name(&self.shared.application, unique.as_str())
    }

    pub(crate) fn enter(&self, session: &Arc<Inner>) {
        let mut live = self.live();
        live.retain(|there| there.strong_count() > 0);
        live.push(Arc::downgrade(session));
    }

    /// The sessions that are alive in this process.
    pub(crate) fn alive(&self) -> Vec<Arc<Inner>> {
        self.live().iter().filter_map(Weak::upgrade).collect()
    }

    fn live(&self) -> MutexGuard<'_, Vec<Weak<Inner>>> {
        self.shared.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
