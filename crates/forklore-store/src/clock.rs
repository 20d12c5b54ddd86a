//! The clock of a store. The clock decides whether leases are valid, and the store records no time
//! later than the clock's time.

mod server;

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

pub use server::ServerClock;

/// The time source of a store: the system's clock, unless a test sets another one.
#[derive(Clone)]
pub struct StoreClock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl StoreClock {
    /// Creates a clock whose current time is the result of `now`.
    pub fn new(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// Returns the current time, truncated to microseconds.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        forklore_core::event::to_micros((self.0)())
    }
}

impl Default for StoreClock {
    fn default() -> Self {
        Self::new(Timestamp::now)
    }
}

impl fmt::Debug for StoreClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StoreClock").field(&self.now()).finish()
    }
}
