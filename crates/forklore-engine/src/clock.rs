//! Time and chance, so that tests can hold both still.

use jiff::Timestamp;
use uuid::Uuid;

/// Where the engine takes the time and its random bits from.
pub trait Clock: Send + Sync {
    /// What time it is.
    fn now(&self) -> Timestamp;

    /// Random bits for an id.
    fn random(&self) -> [u8; 10];
}

/// The system's clock and random numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn random(&self) -> [u8; 10] {
        // A UUIDv7 ends in 74 random bits and counts up within a millisecond, which keeps the
        // ids of one process in the order they were made.
        let mut random = [0; 10];
        random.copy_from_slice(&Uuid::now_v7().as_bytes()[6..]);
        random
    }
}
