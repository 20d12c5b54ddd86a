//! The environment of a session's turns: the kernel's handle, the configuration, the listeners and
//! the cancellation token.

mod ask_hooks;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forklore_core::{Header, SessionId};
use tokio_util::sync::CancellationToken;

use ask_hooks::hook_failed;

use crate::config::SessionConfig;
use crate::handle::KernelHandle;
use crate::hook::TO_EVENTS;
use crate::notify::event::NoDetails;
use crate::notify::{Bus, Identity, KernelEvent, Notification, Subscription};

/// The kernel handle, ids, configuration, listeners and cancellation token of an open session. All
/// turns that run through one `AgentSession` share this value.
pub(crate) struct Context {
    pub(crate) kernel: KernelHandle,
    /// The name under which this runtime acquires leases.
    pub(crate) owner: String,
    config: Mutex<SessionConfig>,
    ids: Mutex<Ids>,
    /// The token that interrupts the running work; `None` while nothing runs.
    cancel: Mutex<Option<CancellationToken>>,
    bus: Bus,
    /// Messages for the model that hooks injected when they heard of an event. The next request
    /// contains these messages.
    injected: Mutex<Vec<String>>,
}

struct Ids {
    identity: Identity,
    /// The ids of the sessions in which this `AgentSession` ran before. When another runtime takes
    /// over a session, the `AgentSession` leaves it and continues in a fork.
    former: Vec<SessionId>,
}

impl Context {
    pub(crate) fn new(kernel: &KernelHandle, identity: Identity, config: SessionConfig) -> Self {
        Self {
            kernel: kernel.clone(),
            owner: kernel.new_owner(),
            config: Mutex::new(config),
            ids: Mutex::new(Ids { identity, former: Vec::new() }),
            cancel: Mutex::default(),
            bus: Bus::default(),
            injected: Mutex::default(),
        }
    }

    /// Returns the ids of the session in which this `AgentSession` runs now.
    pub(crate) fn identity(&self) -> Identity {
        lock(&self.ids).identity.clone()
    }

    /// Replaces the session's ids with those in `header`, after the session was created. Before
    /// that, the id of the root may have been wrong.
    pub(crate) fn made(&self, header: &Header) {
        lock(&self.ids).identity = Identity::from(header);
    }

    /// Switches to the session of `header`. Adds the id of the previous session to the former
    /// sessions.
    pub(crate) fn become_session(&self, header: &Header) {
        let mut ids = lock(&self.ids);
        let former = std::mem::replace(&mut ids.identity, Identity::from(header));
        ids.former.push(former.session_id);
    }

    /// Checks whether `id` is the session in which this `AgentSession` runs now, or a session in
    /// which it ran before.
    pub(crate) fn is_or_was(&self, id: &SessionId) -> bool {
        let ids = lock(&self.ids);
        ids.identity.session_id == *id || ids.former.contains(id)
    }

    /// Returns a copy of the session's configuration.
    pub(crate) fn config(&self) -> SessionConfig {
        lock(&self.config).clone()
    }

    pub(crate) fn change_config(&self, change: impl FnOnce(&mut SessionConfig)) {
        change(&mut lock(&self.config));
    }

    pub(crate) fn subscribe(&self, capacity: usize) -> Subscription {
        self.bus.subscribe(capacity)
    }

    pub(crate) fn announce(&self, event: KernelEvent) {
        self.announce_as(&self.identity(), event);
    }

    /// Notifies the listeners about an event, and then the hooks. If a hook panics, notifies the
    /// listeners about that, but not the hooks. Does nothing if there are neither listeners nor
    /// hooks.
    pub(crate) fn announce_as(&self, identity: &Identity, event: KernelEvent) {
        if !self.has_listeners() {
            return;
        }
        let notification = self.notify(identity, event);
        let reactions = self.kernel.hooks().tell(&notification);
        lock(&self.injected).extend(reactions.injected);
        for (hook, error) in reactions.failed {
            // The hooks do not hear of this: a hook that panics would panic again.
            self.notify(identity, hook_failed(identity, hook, TO_EVENTS, error));
        }
    }

    fn notify(&self, identity: &Identity, event: KernelEvent) -> Arc<Notification> {
        let ts = self.kernel.engine().now();
        let notification = Arc::new(Notification::new(identity.clone(), ts, event));
        self.kernel.bus().announce(&notification);
        self.bus.announce(&notification);
        notification
    }

    /// Removes and returns the messages for the model that hooks injected when they heard of an
    /// event.
    pub(crate) fn take_injected(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.injected))
    }

    /// Checks whether the kernel or the session has a listener for notifications. Hooks are
    /// listeners too.
    pub(crate) fn has_listeners(&self) -> bool {
        self.kernel.bus().has_listeners()
            || self.bus.has_listeners()
            || !self.kernel.hooks().is_empty()
    }

    /// Records that work of the session begins, which [`interrupt`](Self::interrupt) can then
    /// interrupt. The work ends when the returned value is dropped.
    pub(crate) fn begin(&self) -> Running<'_> {
        let cancel = CancellationToken::new();
        *lock(&self.cancel) = Some(cancel.clone());
        Running { context: self, cancel }
    }

    /// Returns the token that interrupts the session's running work, or `None` if nothing runs.
    pub(crate) fn cancel_token(&self) -> Option<CancellationToken> {
        lock(&self.cancel).clone()
    }

    /// Checks whether the session's running work was interrupted.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel_token().is_some_and(|cancel| cancel.is_cancelled())
    }

    /// Interrupts the session's running work. Returns `false` if nothing runs or if the work was
    /// already interrupted.
    pub(crate) fn interrupt(&self) -> bool {
        let cancel = self.cancel_token().filter(|cancel| !cancel.is_cancelled());
        let Some(cancel) = cancel else { return false };
        self.announce(KernelEvent::CancelRequested(NoDetails {}));
        cancel.cancel();
        true
    }
}

/// The running work of a session. Dropping this value cancels the token, and the session then has
/// no running work.
pub(crate) struct Running<'a> {
    context: &'a Context,
    pub(crate) cancel: CancellationToken,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.cancel.cancel();
        *lock(&self.context.cancel) = None;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
