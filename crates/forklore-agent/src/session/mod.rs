//! A session that can run turns: made, made ready, executed, forked, ended.

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

pub use delegate::Delegated;
pub use fork::Branched;
pub(crate) use live::Live;
pub use new::NewSession;
pub use prompt::Prompt;

use crate::Result;
use crate::config::SessionConfig;
use crate::context::Context;
use crate::handle::KernelHandle;
use crate::model::Model;
use crate::notify::{Identity, Subscription};
use crate::turn::View;

/// A session that can run turns, one at a time. A clone is the same session.
#[derive(Clone)]
pub struct AgentSession {
    inner: Arc<Inner>,
}

/// Where sessions live: the kernel's handle, and the others that are alive.
#[derive(Clone)]
pub(crate) struct Home {
    pub(crate) kernel: KernelHandle,
    pub(crate) live: Arc<Live<Inner>>,
}

pub(crate) struct Inner {
    context: Arc<Context>,
    home: Home,
    state: Mutex<State>,
    /// Held while a turn runs; what a turn learnt that helps the next.
    turn: AsyncMutex<View>,
}

#[derive(Default)]
struct State {
    /// What is to be made, until it is.
    plan: Option<NewSession>,
    ready: bool,
    started: bool,
    ended: bool,
}

impl AgentSession {
    pub(crate) fn planned(home: &Home, new: NewSession, config: SessionConfig) -> Self {
        let id = new.id.clone().unwrap_or_else(|| home.kernel.engine().new_id());
        let identity = Identity {
            // A child's family is known when it is made ready.
            root_id: new.parent_id.clone().unwrap_or_else(|| id.clone()),
            parent_id: new.parent_id.clone(),
            session_id: id,
        };
        Self::with(home, identity, Some(new), config)
    }

    /// A session that is stored.
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

    /// Its id. A runtime that lost its session to another goes on in a fork of it (SPEC 9), so
    /// this may change with a turn; the turn then says so.
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.identity().session_id
    }

    /// Its id, its parent's and its family's.
    #[must_use]
    pub fn identity(&self) -> Identity {
        self.context().identity()
    }

    /// What it works with: a copy.
    #[must_use]
    pub fn equipment(&self) -> SessionConfig {
        self.context().config()
    }

    /// Gives it other things to work with, from its next turn on.
    pub fn equip(&self, change: impl FnOnce(&mut SessionConfig)) {
        self.context().change_config(change);
    }

    /// Gives it another model from its next turn on.
    pub fn set_model(&self, model: Arc<dyn Model>) {
        self.equip(|config| config.model = model);
    }

    /// Listens to this session alone; see [`Kernel::subscribe`](crate::Kernel::subscribe).
    #[must_use]
    pub fn subscribe(&self, capacity: usize) -> Subscription {
        self.context().subscribe(capacity)
    }

    /// Whether a turn runs in it, in this process.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.context().cancel_token().is_some()
    }

    /// Interrupts the turn that runs, if one does. The part of the answer that came is stored, calls
    /// that run are cancelled, and [`execute`](Self::execute) returns. A summary that is being
    /// written is given up. Returns whether something ran that was not interrupted yet.
    pub fn interrupt(&self) -> bool {
        self.context().interrupt()
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it is a child of another one that is alive.
    fn is_below(&self, other: &Self) -> bool {
        let parent = self.context.identity().parent_id;
        parent.is_some_and(|parent| other.context.is_or_was(&parent))
    }
}
