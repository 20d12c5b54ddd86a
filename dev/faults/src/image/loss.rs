//! The effects of a power cut on unsynced data.

use super::{Change, Content};
use crate::drive::SECTOR;
use crate::soak::Chance;

/// The effect of a power cut on unsynced data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loss {
    /// Nothing is lost: all unsynced data reaches the disk.
    Nothing,
    /// All unsynced data is lost.
    Everything,
    /// Some unsynced writes and name changes reach the disk, others are lost.
    Some,
    /// Some sectors of the unsynced writes reach the disk, and some of the unsynced name changes.
    Sectors,
    /// All unsynced data reaches the disk, but some writes leave zeros where the file grew.
    Zeros,
    /// All unsynced data reaches the disk, but some writes leave zeros in their whole range, even
    /// over durable data. No real disk does that; SQLite survives it anyway.
    ZerosOver,
}

impl Loss {
    /// The effects of a power cut on unsynced data that occur on real disks.
    pub const REAL: [Self; 5] =
        [Self::Nothing, Self::Everything, Self::Some, Self::Sectors, Self::Zeros];
    /// All effects of a power cut on unsynced data, including one that no real disk has.
    pub const ALL: [Self; 6] =
        [Self::Nothing, Self::Everything, Self::Some, Self::Sectors, Self::Zeros, Self::ZerosOver];

    pub(super) fn keeps_name(self, chance: &mut Chance) -> bool {
        match self {
            Self::Nothing | Self::Zeros | Self::ZerosOver => true,
            Self::Everything => false,
            Self::Some | Self::Sectors => chance.below(2) == 0,
        }
    }
}

impl Content {
    /// Returns the content of this file after a power cut with the effect `loss`. Random choices
    /// come from `chance`.
    pub(super) fn after(mut self, loss: Loss, chance: &mut Chance) -> Vec<u8> {
        let bytes = &mut self.durable;
        let durable = bytes.len() as u64;
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
                (Loss::Zeros | Loss::ZerosOver, Change::Write(new, at)) if chance.below(2) == 0 => {
                    let over = if loss == Loss::Zeros { durable.saturating_sub(*at) } else { 0 };
                    let over = usize::try_from(over).unwrap_or(usize::MAX).min(new.len());
                    let mut left = new.clone();
                    left[over..].fill(0);
                    Change::Write(left, *at).apply(bytes);
                }
                (Loss::Zeros | Loss::ZerosOver, _) => change.apply(bytes),
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

/// Splits a write of `bytes` at offset `at` into one write per disk sector.
fn sectors(bytes: &[u8], at: u64) -> Vec<Change> {
    let mut sectors = Vec::new();
    let (mut rest, mut at) = (bytes, at);
    while !rest.is_empty() {
        let available = usize::try_from(SECTOR - at % SECTOR).unwrap_or(rest.len());
        let (sector, behind) = rest.split_at(available.min(rest.len()));
        sectors.push(Change::Write(sector.to_vec(), at));
        at += sector.len() as u64;
        rest = behind;
    }
    sectors
}
