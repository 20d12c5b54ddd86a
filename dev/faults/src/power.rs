//! Cuts the power during a workload, at every sync and at random points. Checks the contents of the
//! store after each cut.

mod kill;
mod together;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;

use crate::drive::{Drive, Entry, Mark};
use crate::image::{Disk, Loss};
use crate::soak::Chance;
use crate::subject::Subject;
use crate::sweep::{folder, sound};
use crate::workload::Workload;
use forklore_store::Store;

pub use together::Together;

/// The number of steps after which a workload closes the store and opens it again.
const REOPEN_EVERY: usize = 13;

/// A workload that was executed on a store, with the journal of its disk operations. Power cuts are
/// simulated from the journal.
pub struct PowerCut<'a> {
    subject: &'a dyn Subject,
    work: Workload,
    journal: Vec<Entry>,
    dir: TempDir,
}

/// The moment of a power cut, and what unsynced data is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The number of journal entries before the power cut.
    pub at: usize,
    /// The effect of the power cut on unsynced data.
    pub loss: Loss,
}

/// The number of disk images that were checked, for each effect of a power cut on unsynced data.
pub type Tally = BTreeMap<Loss, u64>;

impl<'a> PowerCut<'a> {
    /// Runs the workload with the number `round` on a store, and records the disk operations.
    ///
    /// # Panics
    /// If a step of the workload fails.
    #[must_use]
    pub fn of_round(subject: &'a dyn Subject, round: u64) -> Self {
        Self::of(subject, Workload::of_round(round))
    }

    /// Runs the given workload on a store, and records the disk operations.
    ///
    /// # Panics
    /// If a step of the workload fails.
    #[must_use]
    pub fn of(subject: &'a dyn Subject, work: Workload) -> Self {
        let (dir, drive) = (folder(), Drive::noting());
        let open = || subject.open(dir.path(), &drive).expect("the store opens");
        let mut store = open();
        for (number, step) in work.steps.iter().enumerate() {
            if number % REOPEN_EVERY == REOPEN_EVERY - 1 {
                drop(store);
                store = open();
            }
            drive.mark(Mark::Begun(number));
            step.take(&*store).unwrap_or_else(|error| panic!("step {number}, {step:?}: {error}"));
            drive.mark(Mark::Acknowledged(number));
        }
        drop(store);
        let journal = drive.journal();
        Self { subject, work, journal, dir }
    }

    /// Returns at least `count` power cuts, ordered by their position in the journal. There is one
    /// before every sync, with each effect on unsynced data. If these are fewer than `count`,
    /// random ones are added.
    #[must_use]
    pub fn cuts(&self, count: usize, chance: &mut Chance) -> Vec<Cut> {
        let losses = self.subject.losses();
        let mut cuts: Vec<_> = self
            .syncs()
            .flat_map(|at| losses.iter().map(move |loss| Cut { at, loss: *loss }))
            .collect();
        let more = count.saturating_sub(cuts.len());
        cuts.extend(self.random_cuts(more, chance));
        cuts.sort_by_key(|cut| cut.at);
        cuts
    }

    /// Returns at least `count` moments at which to kill the process, ordered by their position in
    /// the journal. There is one before every sync, after which a power cut loses everything
    /// unsynced. If these are fewer than `count`, random ones are added.
    #[must_use]
    pub fn kills(&self, count: usize, chance: &mut Chance) -> Vec<Cut> {
        let mut kills: Vec<_> = self.syncs().map(|at| Cut { at, loss: Loss::Everything }).collect();
        kills.extend(self.random_cuts(count.saturating_sub(kills.len()), chance));
        kills.sort_by_key(|kill| kill.at);
        kills
    }

    /// Returns the indexes of the syncs in the journal.
    fn syncs(&self) -> impl Iterator<Item = usize> {
        syncs(&self.journal)
    }

    /// Returns `count` random power cuts, ordered by their position in the journal.
    fn random_cuts(&self, count: usize, chance: &mut Chance) -> Vec<Cut> {
        let mut cut = || {
            let at = chance.below(self.journal.len() as u64 + 1);
            let loss = *chance.one_of(self.subject.losses());
            Cut { at: usize::try_from(at).unwrap_or(0), loss }
        };
        let mut cuts: Vec<_> = (0..count).map(|_| cut()).collect();
        cuts.sort_by_key(|cut| cut.at);
        cuts
    }

    /// Creates the disk image that each of these power cuts leaves, and checks the store on it. The
    /// cuts must be ordered by position. Returns the number of checked images for each effect on
    /// unsynced data.
    ///
    /// # Panics
    /// If acknowledged data is lost, or if the store violates another check.
    #[must_use]
    pub fn run(&self, cuts: &[Cut], chance: &mut Chance) -> Tally {
        let mut tally = Tally::new();
        let mut disk = Disk::default();
        let mut followed = 0;
        for cut in cuts {
            let new = &self.journal[followed..cut.at];
            new.iter().for_each(|entry| disk.follow(entry));
            followed = cut.at;
            let allowed = self.allowed(cut.at);
            let image = folder();
            disk.restore(self.dir.path(), image.path(), cut.loss, chance).expect("an image");
            if let Err(wrong) = self.judge(image.path(), allowed.clone()) {
                panic!("{cut:?}, {allowed:?} steps: {wrong}{}", self.around(cut.at));
            }
            *tally.entry(cut.loss).or_default() += 1;
        }
        tally
    }

    /// Returns how many steps of the workload the store may contain after a power cut before the
    /// journal entry `at`. The lower limit is the number of steps acknowledged as durable, the
    /// upper limit the number of steps begun.
    fn allowed(&self, at: usize) -> RangeInclusive<usize> {
        let (mut least, mut most) = (0, 0);
        for entry in &self.journal[..at] {
            match entry {
                Entry::Mark(Mark::Begun(step)) => most = step + 1,
                Entry::Mark(Mark::Acknowledged(step)) if self.work.steps[*step].is_durable() => {
                    least = step + 1;
                }
                _ => {}
            }
        }
        least..=most
    }

    fn judge(&self, dir: &Path, allowed: RangeInclusive<usize>) -> Result<(), String> {
        let store = self.open(dir, &Drive::sound())?;
        let mut steps_done = sound(&self.work, &*store, allowed)?;
        if let Some(step) = self.work.steps.get(steps_done) {
            step.take(&*store).map_err(|error| format!("step {steps_done} now fails: {error}"))?;
            steps_done += 1;
        }
        drop(store);
        let store = self.open(dir, &Drive::sound())?;
        sound(&self.work, &*store, steps_done..=steps_done).map(|_| ())
    }

    fn open(&self, dir: &Path, drive: &Arc<Drive>) -> Result<Box<dyn Store>, String> {
        let opened = self.subject.open(dir, drive);
        opened.map_err(|error| format!("it does not open: {error}"))
    }

    /// Formats the last 12 journal entries before the index `at`, for an error message.
    fn around(&self, at: usize) -> String {
        let shown = self.journal[at.saturating_sub(12)..at].iter().map(|entry| match entry {
            Entry::Wrote(node, bytes, location) => {
                format!("\n  {} bytes to {node:?} at {location}", bytes.len())
            }
            Entry::Found(path, node, _) => format!("\n  found {path:?}, {node:?}"),
            other => format!("\n  {other:?}"),
        });
        shown.collect()
    }
}

/// Returns the indexes of the syncs in a journal.
fn syncs(journal: &[Entry]) -> impl Iterator<Item = usize> {
    journal.iter().enumerate().filter_map(|(at, entry)| {
        matches!(entry, Entry::Synced(_) | Entry::SyncedDir(_)).then_some(at)
    })
}
