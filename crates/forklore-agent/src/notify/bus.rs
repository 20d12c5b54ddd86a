//! Delivers notifications to sinks and subscriptions.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::subscription::Queue;
use super::{Notification, Subscription};

/// Receives every notification of a kernel, in order and synchronously. An implementation must
/// return quickly and must handle its own errors. The kernel ignores its panics.
pub trait Sink: Send + Sync {
    /// Receives one notification. The turn waits until this function returns.
    fn take(&self, notification: &Arc<Notification>);
}

/// The listeners for notifications: sinks, which are permanent, and subscriptions, which may be
/// dropped at any time.
#[derive(Default)]
pub(crate) struct Bus {
    sinks: Vec<Arc<dyn Sink>>,
    queues: Mutex<Vec<Weak<Queue>>>,
}

impl Bus {
    pub(crate) fn add_sink(&mut self, sink: Arc<dyn Sink>) {
        self.sinks.push(sink);
    }

    pub(crate) fn subscribe(&self, capacity: usize) -> Subscription {
        let (queue, subscription) = Subscription::new(capacity);
        self.queues().push(Arc::downgrade(&queue));
        subscription
    }

    fn queues(&self) -> std::sync::MutexGuard<'_, Vec<Weak<Queue>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks whether there is a sink or a subscription.
    pub(crate) fn has_listeners(&self) -> bool {
        !self.sinks.is_empty() || !self.queues().is_empty()
    }

    pub(crate) fn announce(&self, notification: &Arc<Notification>) {
        for sink in &self.sinks {
            // A sink that panics must not end the turn.
            let _ = catch_unwind(AssertUnwindSafe(|| sink.take(notification)));
        }
        self.queues().retain(|queue| {
            queue.upgrade().is_some_and(|queue| {
                queue.push(notification);
                true
            })
        });
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        for queue in self.queues().iter().filter_map(Weak::upgrade) {
            queue.close();
        }
    }
}
