//! What becomes of that which was not synced.

use super::{Change, Content};
use crate::soak::Chance;

/// What of the unsynced reaches the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loss {
    /// All of it.
    Nothing,
    /// Nothing of it.
    Everything,
    /// Some writes and changes of names.
    Some,
    /// Some sectors of the writes.
    Sectors,
    /// All of it, but some writes left zeros where they wrote.
    Zeros,
}

/// A sector, in bytes: a disk writes it wholly or not at all.
const SECTOR: u64 = 512;

impl Loss {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Nothing, Self::Everything, Self::Some, Self::Sectors, Self::Zeros];

    pub(super) fn keeps_name(self, chance: &mut Chance) -> bool {
        match self {
            Self::Nothing | Self::Zeros => true,
            Self::Everything => false,
            Self::Some | Self::Sectors => chance.below(2) == 0,
        }
    }
}

impl Content {
    /// The bytes that are left of it.
    pub(super) fn after(mut self, loss: Loss, chance: &mut Chance) -> Vec<u8> {
        let bytes = &mut self.durable;
        for change in &self.unsynced {
            match (loss, change) {
                (Loss::Everything, _) => {}
                (Loss::Nothing, _) => change.apply(bytes),
                (Loss::Sectors, Change::Write(new, at)) => {
                    for sector in sectors(new, *at) {
                        if chance.below(2) == 0 {
                            sector.apply(bytes);
                        }
                    }
                }
                (Loss::Zeros, Change::Write(new, at)) if chance.below(2) == 0 => {
                    Change::Write(vec![0; new.len()], *at).apply(bytes);
                }
                (Loss::Zeros, _) => change.apply(bytes),
                (Loss::Some | Loss::Sectors, _) => {
                    if chance.below(2) == 0 {
                        change.apply(bytes);
                    }
                }
            }
        }
        self.durable
    }
}

/// A write, sector by sector.
fn sectors(bytes: &[u8], at: u64) -> Vec<Change> {
    let mut sectors = Vec::new();
    let (mut rest, mut at) = (bytes, at);
    while !rest.is_empty() {
        let room = usize::try_from(SECTOR - at % SECTOR).unwrap_or(rest.len());
        let (sector, behind) = rest.split_at(room.min(rest.len()));
        sectors.push(Change::Write(sector.to_vec(), at));
        at += sector.len() as u64;
        rest = behind;
    }
    sectors
}
