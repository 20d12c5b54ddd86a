//! The sources of time and randomness. Tests replace them to get fixed values.

use jiff::Timestamp;
use uuid::Uuid;

/// Supplies the engine with the current time and random bits.
pub trait Clock: Send + Sync {
    /// Returns the current time. The engine truncates the time to whole microseconds.
    fn now(&self) -> Timestamp;

    /// Returns 80 random bits for an id.
    fn random(&self) -> [u8; 10];
}

/// Supplies the time of the system clock, and the last 80 bits of a new UUIDv7 as random bits.
/// Within one millisecond, these bits increase with each call, so the event ids of one process sort
/// by creation.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn random(&self) -> [u8; 10] {
        // A UUIDv7 ends in 74 random bits and counts up within a millisecond. The ids that one
        // process creates therefore sort in the order of their creation.
        let mut random = [0; 10];
        random.copy_from_slice(&Uuid::now_v7().as_bytes()[6..]);
        random
    }
}
