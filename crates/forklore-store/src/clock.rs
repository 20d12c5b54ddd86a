//! The clock of a store: it decides leases, and no time is recorded as later than it says.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

/// Where a store takes the time from: the system, unless a test sets another clock.
#[derive(Clone)]
pub struct StoreClock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl StoreClock {
    /// A clock that shows what `now` returns.
    pub fn new(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// What time it is, to the microsecond.
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
