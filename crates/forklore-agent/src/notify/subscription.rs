//! The queue of a subscriber. The queue is bounded and never makes a turn wait.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures_util::Stream;
use futures_util::task::AtomicWaker;

use super::Notification;

/// The limit of a queue for notifications that are not ephemeral, as a multiple of its capacity.
const LASTING: usize = 16;

/// One item of a subscription: a notification, or the information that some are missing.
#[derive(Clone, Debug, PartialEq)]
pub enum Received {
    /// A notification that the queue did not drop.
    Event(Arc<Notification>),
    /// The queue dropped notifications at this position because the subscriber was too slow.
    Lagged(Lagged),
}

/// How many notifications a queue dropped because the subscriber was too slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lagged {
    /// Number of dropped ephemeral notifications, such as pieces of an answer. The complete block
    /// of an answer is announced later.
    pub ephemeral: u64,
    /// Number of dropped notifications that are not ephemeral. If such a notification is about
    /// stored data, the log contains the data.
    pub lasting: u64,
}

/// The notifications of a session, or of all sessions of a kernel, as a stream. The stream ends
/// when the session or the kernel is dropped. Dropping the stream ends the subscription.
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
    /// Creates both halves of a queue. The queue drops new ephemeral notifications while it has at
    /// least `capacity` entries. A capacity of 0 counts as 1.
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
    /// Adds a notification to the queue. If the queue is full, counts the notification as missed
    /// instead.
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
