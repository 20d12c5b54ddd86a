//! Which operation fails, and how.

use super::operation::{Failure, Operation, Shape, Verdict};

/// One operation that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its number, from 0.
    pub at: usize,
    /// How it fails.
    pub mode: Mode,
}

/// How an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// The device fails once; where that is a sync, nobody knows what is durable.
    Error,
    /// A part is written, then there is no room, once.
    Full,
    /// A part is written, then there is no room until some is made.
    StaysFull,
    /// A part is written, and then nothing works until the machine starts again.
    Dead,
}

impl Mode {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Error, Self::Full, Self::StaysFull, Self::Dead];

    /// Whether an operation can fail like this.
    #[must_use]
    pub fn fits(self, shape: Shape) -> bool {
        match self {
            Self::Error => true,
            Self::Full | Self::StaysFull => shape.needs_space(),
            Self::Dead => shape.changes(),
        }
    }
}

/// How the drive is.
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
    /// What becomes of the operation, and how the drive is afterwards.
    pub(super) fn strike(self, operation: &Operation<'_>) -> (Verdict, Condition) {
        let (failure, after) = match self.mode {
            Mode::Error => (Failure::Broken, Condition::Sound),
            Mode::Full => (Failure::Full, Condition::Sound),
            Mode::StaysFull => (Failure::Full, Condition::Full),
            Mode::Dead => (Failure::Broken, Condition::Dead),
        };
        let verdict = match operation {
            // Another part each time, so that it ends before, in and behind a record.
            Operation::Write(_, bytes, _) if self.mode != Mode::Error => {
                Verdict::Short(self.at * 97 % bytes.len().max(1), failure)
            }
            _ => Verdict::Fail(failure),
        };
        (verdict, after)
    }
}
