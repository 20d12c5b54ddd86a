//! The environment of a session's turns: the kernel's handle, the configuration, the listeners and
//! the cancellation token.

mod judge;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forklore_core::{Header, SessionId};
use tokio_util::sync::CancellationToken;

use crate::config::SessionConfig;
use crate::handle::KernelHandle;
use crate::notify::event::NoDetails;
use crate::notify::{Bus, Identity, KernelEvent, Notification, Subscription};

/// The environment of a session's turns. All turns of one session handle share it.
pub(crate) struct Context {
    pub(crate) kernel: KernelHandle,
    /// The name under which this runtime acquires leases.
    pub(crate) owner: String,
    config: Mutex<SessionConfig>,
    ids: Mutex<Ids>,
    /// The token that interrupts the running work; `None` while nothing runs.
    cancel: Mutex<Option<CancellationToken>>,
    bus: Bus,
}

struct Ids {
    identity: Identity,
    /// The earlier sessions of this handle. It left each of them because another runtime took it
    /// over.
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
        }
    }

    /// Returns the ids of the current session.
    pub(crate) fn identity(&self) -> Identity {
        lock(&self.ids).identity.clone()
    }

    /// Sets the ids from the header of the new session. The family's id is set only then.
    pub(crate) fn made(&self, header: &Header) {
        lock(&self.ids).identity = Identity::from(header);
    }

    /// Continues as another session. The previous session becomes a former one.
    pub(crate) fn become_session(&self, header: &Header) {
        let mut ids = lock(&self.ids);
        let former = std::mem::replace(&mut ids.identity, Identity::from(header));
        ids.former.push(former.session_id);
    }

    /// Checks whether `id` is the current session or one of the former sessions.
    pub(crate) fn is_or_was(&self, id: &SessionId) -> bool {
        let ids = lock(&self.ids);
        ids.identity.session_id == *id || ids.former.contains(id)
    }

    /// Returns a copy of the configuration.
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

    pub(crate) fn announce_as(&self, identity: &Identity, event: KernelEvent) {
        if !self.has_listeners() {
            return;
        }
        let ts = self.kernel.engine().now();
        let notification = Arc::new(Notification::new(identity.clone(), ts, event));
        self.kernel.bus().announce(&notification);
        self.bus.announce(&notification);
    }

    /// Checks whether the kernel or the session has a listener.
    pub(crate) fn has_listeners(&self) -> bool {
        self.kernel.bus().has_listeners() || self.bus.has_listeners()
    }

    /// Starts work that can be interrupted. The work ends when the returned value is dropped.
    pub(crate) fn begin(&self) -> Running<'_> {
        let cancel = CancellationToken::new();
        *lock(&self.cancel) = Some(cancel.clone());
        Running { context: self, cancel }
    }

    /// Returns the token that interrupts the running work.
    pub(crate) fn cancel_token(&self) -> Option<CancellationToken> {
        lock(&self.cancel).clone()
    }

    /// Checks whether the running work was interrupted.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel_token().is_some_and(|cancel| cancel.is_cancelled())
    }

    /// Interrupts the running work. Returns `false` if nothing runs or if the work was already
    /// interrupted.
    pub(crate) fn interrupt(&self) -> bool {
        let cancel = self.cancel_token().filter(|cancel| !cancel.is_cancelled());
        let Some(cancel) = cancel else { return false };
        self.announce(KernelEvent::CancelRequested(NoDetails {}));
        cancel.cancel();
        true
    }
}

/// Marks work as running until this value is dropped.
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
