//! The id of a snapshot.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// The id of a snapshot: the id of a git tree, 40 hexadecimal digits. Equal states of a workspace
/// have the same id.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SnapshotId([u8; 20]);

impl SnapshotId {
    /// The tree without entries, which every repository knows.
    pub(crate) const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
}

impl FromStr for SnapshotId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bad = || Error::Id { text: text.chars().take(80).collect() };
        let digits = text.as_bytes();
        let mut id = [0; 20];
        if digits.len() != 2 * id.len() {
            return Err(bad());
        }
        for (byte, pair) in id.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |at| pair.get(at).and_then(|&digit| char::from(digit).to_digit(16));
            let (high, low) = digit(0).zip(digit(1)).ok_or_else(bad)?;
            *byte = u8::try_from(high << 4 | low).map_err(|_| bad())?;
        }
        Ok(Self(id))
    }
}

impl fmt::Display for SnapshotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for SnapshotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SnapshotId({self})")
    }
}
