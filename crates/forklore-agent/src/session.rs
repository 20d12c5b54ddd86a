//! A session that can run turns. It can be created, initialized, executed, forked and ended.

mod cleanup;
mod compact;
mod delegate;
mod execute;
mod fork;
mod initialize;
mod live;
mod new;
mod prompt;
mod summarize;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forklore_core::{Header, SessionId};
use tokio::sync::Mutex as AsyncMutex;

pub use fork::Branched;
pub(crate) use live::Live;
pub use new::NewSession;
pub use prompt::Prompt;

use crate::Result;
use crate::config::SessionConfig;
use crate::context::Context;
use crate::handle::KernelHandle;
use crate::model::Model;
use crate::notify::event::{ApplicationEvent, EndStatus};
use crate::notify::{Identity, KernelEvent, Subscription};
use crate::turn::View;

/// A session that can run turns, one at a time. A clone refers to the same session.
#[derive(Clone)]
pub struct AgentSession {
    inner: Arc<Inner>,
}

/// The state that the sessions of a kernel share: the kernel's handle and the list of open
/// sessions.
#[derive(Clone)]
pub(crate) struct Home {
    pub(crate) kernel: KernelHandle,
    pub(crate) live: Arc<Live<Inner>>,
}

pub(crate) struct Inner {
    context: Arc<Context>,
    home: Home,
    state: Mutex<State>,
    /// Locked while a turn runs. The value is the list of messages that one turn read and the next
    /// turn can reuse.
    turn: AsyncMutex<View>,
}

#[derive(Default)]
struct State {
    /// The properties of the session to create; `None` once the session exists.
    plan: Option<NewSession>,
    ready: bool,
    /// How the last turn in this process ended. `None` if no turn began in this process, or after
    /// the end of the session was announced.
    ran: Option<EndStatus>,
    ended: bool,
    /// Whether a cleanup ended the session together with its children. If so, a child whose fork
    /// was already in progress also counts as ended.
    ended_with_children: bool,
}

impl AgentSession {
    /// Returns a session that is not initialized. `parent` has the ids of the session's parent.
    fn planned(
        home: &Home,
        new: NewSession,
        parent: Option<&Identity>,
        config: SessionConfig,
    ) -> Self {
        let id = new.id.clone().unwrap_or_else(|| home.kernel.engine().new_id());
        let identity = match parent {
            Some(parent) => Identity::of_child(id, parent),
            None => Identity { root_id: id.clone(), parent_id: None, session_id: id },
        };
        Self::with(home, identity, Some(new), config)
    }

    /// Returns a session that is not initialized.
    pub(crate) fn create(home: &Home, new: NewSession, config: SessionConfig) -> Self {
        let parent = new.parent_id.as_ref().map(|parent| home.ids_of_parent(parent));
        Self::planned(home, new, parent.as_ref(), config)
    }

    /// Opens a session that exists in the store.
    pub(crate) async fn open(home: &Home, id: &SessionId, config: SessionConfig) -> Result<Self> {
        let wanted = id.clone();
        let header = home.kernel.run(move |engine| engine.show(&wanted)).await?;
        Ok(Self::of(home, &header, config))
    }

    fn of(home: &Home, header: &Header, config: SessionConfig) -> Self {
        Self::with(home, Identity::from(header), None, config)
    }

    fn with(
        home: &Home,
        identity: Identity,
        plan: Option<NewSession>,
        config: SessionConfig,
    ) -> Self {
        let inner = Arc::new(Inner {
            context: Arc::new(Context::new(&home.kernel, identity, config)),
            home: home.clone(),
            state: Mutex::new(State { plan, ..State::default() }),
            turn: AsyncMutex::new(View::default()),
        });
        home.live.enter(&inner);
        Self { inner }
    }

    fn context(&self) -> &Arc<Context> {
        &self.inner.context
    }

    /// Returns the session's id. The id may change during a turn: a runtime that lost its session
    /// to another runtime continues in a fork of the session (docs/semantics.md, Writing). The
    /// result of the turn then reports the new id.
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.identity().session_id
    }

    /// Returns the ids of the session, of its parent session and of its root session.
    #[must_use]
    pub fn identity(&self) -> Identity {
        self.context().identity()
    }

    /// Returns a copy of the session's configuration.
    #[must_use]
    pub fn equipment(&self) -> SessionConfig {
        self.context().config()
    }

    /// Changes the session's configuration. The change takes effect with the next turn.
    pub fn equip(&self, change: impl FnOnce(&mut SessionConfig)) {
        self.context().change_config(change);
    }

    /// Replaces the session's model. The new model answers from the next turn on.
    pub fn set_model(&self, model: Arc<dyn Model>) {
        self.equip(|config| config.model = model);
    }

    /// Subscribes to the notifications of this session only, through a queue. If the queue already
    /// has `capacity` entries, it drops new ephemeral notifications. If it has 16 times as many
    /// entries, it drops all new notifications. [`Kernel::subscribe`](crate::Kernel::subscribe)
    /// does the same for all sessions.
    #[must_use]
    pub fn subscribe(&self, capacity: usize) -> Subscription {
        self.context().subscribe(capacity)
    }

    /// Announces an event of the application, with the ids of this session, to the listeners of
    /// this session and of the kernel. The event is not stored: if its data must last, append the
    /// data to the log first. A tool announces events through its
    /// [`CallContext`](crate::tool::CallContext).
    pub fn announce(&self, event: ApplicationEvent) {
        self.context().announce(KernelEvent::Application(event));
    }

    /// Checks whether this process is running a turn or other work of the session.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.context().cancel_token().is_some()
    }

    /// Interrupts the running turn or other work. The part of the answer that arrived is stored,
    /// running calls are cancelled, and [`execute`](Self::execute) returns. A summary in progress
    /// is abandoned. Returns `false` if nothing runs or if the work was already interrupted.
    pub fn interrupt(&self) -> bool {
        self.context().interrupt()
    }
}

impl Home {
    /// Returns the ids of a session that is to get a child. The session may be open in this process
    /// and not exist in the store yet.
    fn ids_of_parent(&self, parent: &SessionId) -> Identity {
        let mut ids = self.live.all().into_iter().map(|inner| inner.context.identity());
        let open = ids.find(|ids| ids.session_id == *parent);
        let stored = || self.kernel.engine().show(parent).ok().map(|header| (&header).into());
        // Initializing a child of an unknown parent fails. Until then, the parent counts as a root.
        open.or_else(stored).unwrap_or_else(|| Identity {
            session_id: parent.clone(),
            parent_id: None,
            root_id: parent.clone(),
        })
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
