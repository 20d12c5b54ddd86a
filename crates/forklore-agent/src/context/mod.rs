//! What a turn gets of the session in which it runs: a handle of the kernel, the configuration, the
//! listeners, and what interrupts it.

mod judge;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forklore_core::{Header, SessionId};
use tokio_util::sync::CancellationToken;

use crate::config::SessionConfig;
use crate::handle::KernelHandle;
use crate::notify::event::NoDetails;
use crate::notify::{Bus, Identity, KernelEvent, Notification, Subscription};

/// The surroundings of a session's turns.
pub(crate) struct Context {
    pub(crate) kernel: KernelHandle,
    /// The name under which this runtime holds leases.
    pub(crate) owner: String,
    config: Mutex<SessionConfig>,
    ids: Mutex<Ids>,
    /// What interrupts the work that runs, while some does.
    cancel: Mutex<Option<CancellationToken>>,
    bus: Bus,
}

struct Ids {
    identity: Identity,
    /// The sessions that it went on from, where another runtime took over.
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

    /// The ids of the session in which the turn runs now.
    pub(crate) fn identity(&self) -> Identity {
        lock(&self.ids).identity.clone()
    }

    /// The session was made: its header knows its family.
    pub(crate) fn made(&self, header: &Header) {
        lock(&self.ids).identity = Identity::from(header);
    }

    /// Goes on as another session.
    pub(crate) fn become_session(&self, header: &Header) {
        let mut ids = lock(&self.ids);
        let former = std::mem::replace(&mut ids.identity, Identity::from(header));
        ids.former.push(former.session_id);
    }

    /// Whether this is a session, or went on from it.
    pub(crate) fn is_or_was(&self, id: &SessionId) -> bool {
        let ids = lock(&self.ids);
        ids.identity.session_id == *id || ids.former.contains(id)
    }

    /// The configuration: a copy.
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

    /// Whether anyone listens.
    pub(crate) fn has_listeners(&self) -> bool {
        self.kernel.bus().has_listeners() || self.bus.has_listeners()
    }

    /// Some work begins that can be interrupted, until the answer is dropped.
    pub(crate) fn begin(&self) -> Running<'_> {
        let cancel = CancellationToken::new();
        *lock(&self.cancel) = Some(cancel.clone());
        Running { context: self, cancel }
    }

    /// What interrupts the work that runs.
    pub(crate) fn cancel_token(&self) -> Option<CancellationToken> {
        lock(&self.cancel).clone()
    }

    /// Whether the work that runs was interrupted.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel_token().is_some_and(|cancel| cancel.is_cancelled())
    }

    /// Interrupts the work that runs. Whether some did that was not interrupted yet.
    pub(crate) fn interrupt(&self) -> bool {
        let cancel = self.cancel_token().filter(|cancel| !cancel.is_cancelled());
        let Some(cancel) = cancel else { return false };
        self.announce(KernelEvent::CancelRequested(NoDetails {}));
        cancel.cancel();
        true
    }
}

/// Some work runs, for as long as this lives.
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
