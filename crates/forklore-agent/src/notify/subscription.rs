//! A subscriber's queue. It is bounded and never makes a turn wait.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures_util::Stream;
use futures_util::task::AtomicWaker;

use super::Notification;

/// A queue's limit for lasting notifications, as a multiple of its capacity.
const LASTING: usize = 16;

/// One item of a subscription.
#[derive(Clone, Debug, PartialEq)]
pub enum Received {
    /// A notification.
    Event(Arc<Notification>),
    /// Notifications are missing at this position because the listener was slow.
    Lagged(Lagged),
}

/// Number of notifications that were dropped because the listener was slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lagged {
    /// Dropped pieces of answers. The complete block is announced later.
    pub ephemeral: u64,
    /// Other dropped notifications, whose content is in the log.
    pub lasting: u64,
}

/// The notifications of a session, or of all sessions of a kernel, as a stream. Dropping it ends
/// the subscription. The stream ends when the session or kernel is gone.
#[derive(Debug)]
pub struct Subscription {
    queue: Arc<Queue>,
}

/// The sending half of a subscription.
#[derive(Debug)]
pub(super) struct Queue {
    items: Mutex<Items>,
    waker: AtomicWaker,
    capacity: usize,
}

#[derive(Debug, Default)]
struct Items {
    queue: VecDeque<Received>,
    closed: bool,
}

impl Subscription {
    /// Creates both halves of a queue for `capacity` ephemeral notifications, at least 1.
    pub(super) fn new(capacity: usize) -> (Arc<Queue>, Self) {
        let queue = Arc::new(Queue {
            items: Mutex::default(),
            waker: AtomicWaker::new(),
            capacity: capacity.max(1),
        });
        (queue.clone(), Self { queue })
    }
}

impl Queue {
    /// Adds a notification, or counts it as missed if the queue is full.
    pub(super) fn push(&self, notification: &Arc<Notification>) {
        let mut items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        let ephemeral = notification.is_ephemeral();
        let most = if ephemeral { self.capacity } else { self.capacity.saturating_mul(LASTING) };
        if items.queue.len() < most {
            items.queue.push_back(Received::Event(notification.clone()));
        } else {
            items.miss(ephemeral);
        }
        drop(items);
        self.waker.wake();
    }

    pub(super) fn close(&self) {
        self.items.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.waker.wake();
    }
}

impl Items {
    fn miss(&mut self, ephemeral: bool) {
        if !matches!(self.queue.back(), Some(Received::Lagged(_))) {
            self.queue.push_back(Received::Lagged(Lagged::default()));
        }
        if let Some(Received::Lagged(missed)) = self.queue.back_mut() {
            missed.ephemeral += u64::from(ephemeral);
            missed.lasting += u64::from(!ephemeral);
        }
    }
}

impl Stream for Subscription {
    type Item = Received;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Received>> {
        self.queue.waker.register(context.waker());
        let mut items = self.queue.items.lock().unwrap_or_else(PoisonError::into_inner);
        match items.queue.pop_front() {
            Some(item) => Poll::Ready(Some(item)),
            None if items.closed => Poll::Ready(None),
            None => Poll::Pending,
        }
    }
}
