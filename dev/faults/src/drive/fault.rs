//! Planned faults: which operation fails, and how.

use super::operation::{Failure, Operation, Shape, Verdict};

/// A planned failure of one file operation on a simulated drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The number of the operation that fails. It counts all operations of its drive, from 0.
    pub at: usize,
    /// The way in which the operation fails.
    pub mode: Mode,
}

/// The way in which a file operation on the simulated drive fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// The operation fails with an I/O error. After a failed sync, it is unknown what is durable.
    Error,
    /// The operation fails with a disk-full error; a write fails after a part of its bytes was
    /// written. Later operations succeed.
    Full,
    /// The operation fails with a disk-full error; a write fails after a part of its bytes was
    /// written. Every later operation that needs space also fails, until the drive is repaired.
    StaysFull,
    /// The operation fails; a write fails after a part of its bytes was written. Then every
    /// operation fails until the drive is repaired, as if the machine were down.
    Dead,
}

impl Mode {
    /// All ways in which a file operation can fail.
    pub const ALL: [Self; 4] = [Self::Error, Self::Full, Self::StaysFull, Self::Dead];

    /// Checks whether an operation of the kind `shape` can fail in this way.
    #[must_use]
    pub fn fits(self, shape: Shape) -> bool {
        match self {
            Self::Error => true,
            Self::Full | Self::StaysFull => shape.needs_space(),
            Self::Dead => shape.changes(),
        }
    }
}

/// The condition of the simulated drive. It decides whether operations without a planned failure
/// succeed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Condition {
    #[default]
    Sound,
    Full,
    Dead,
}

impl Condition {
    pub(super) fn verdict(self, operation: &Operation<'_>) -> Verdict {
        match self {
            Self::Full if operation.shape().needs_space() => Verdict::Fail(Failure::Full),
            Self::Dead => Verdict::Fail(Failure::Broken),
            Self::Sound | Self::Full => Verdict::Go,
        }
    }
}

impl Fault {
    /// Returns how the operation with the planned failure fails. Also returns the condition of the
    /// drive after that failure.
    pub(super) fn strike(self, operation: &Operation<'_>) -> (Verdict, Condition) {
        let (failure, after) = match self.mode {
            Mode::Error => (Failure::Broken, Condition::Sound),
            Mode::Full => (Failure::Full, Condition::Sound),
            Mode::StaysFull => (Failure::Full, Condition::Full),
            Mode::Dead => (Failure::Broken, Condition::Dead),
        };
        let verdict = match operation {
            // The number of written bytes varies with the operation number, so that some writes end
            // before, some inside and some after a record.
            Operation::Write(_, bytes, _) if self.mode != Mode::Error => {
                Verdict::Short(self.at * 97 % bytes.len().max(1), failure)
            }
            _ => Verdict::Fail(failure),
        };
        (verdict, after)
    }
}
