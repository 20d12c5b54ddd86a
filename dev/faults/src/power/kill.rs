//! Tests a kill followed by a power cut: kills the working process, continues in another process,
//! and then cuts the power.
//!
//! The next process sees everything that the killed process wrote, but unsynced data is not
//! durable. The next process must make such data durable before it builds on the data.

use std::collections::BTreeMap;
use std::path::Path;

use forklore_conformance::events::user;
use forklore_conformance::{Handle, Scene};
use forklore_core::SessionId;
use forklore_store::memory::MemoryStore;
use forklore_store::port::Append;

use super::{Cut, PowerCut};
use crate::drive::Drive;
use crate::image::{Disk, Loss};
use crate::picture::Picture;
use crate::soak::Chance;
use crate::sweep::{folder, sound};
use crate::workload::{FILE, Step};
use forklore_store::Store;

impl PowerCut<'_> {
    /// Simulates a kill of the process at each of these moments, followed by a power cut. Another
    /// process runs a step between the kill and the power cut. `cuts` must be ordered by position.
    /// Returns the number of kills for each effect of the power cut on unsynced data.
    ///
    /// # Panics
    /// If acknowledged data is lost, or if the store violates another check.
    #[must_use]
    pub fn run_after_kills(&self, cuts: &[Cut], chance: &mut Chance) -> super::Tally {
        let mut tally = BTreeMap::new();
        let mut disk = Disk::default();
        let mut followed = 0;
        for cut in cuts {
            self.journal[followed..cut.at].iter().for_each(|entry| disk.follow(entry));
            followed = cut.at;
            if let Err(wrong) = self.kill(&disk, *cut, chance) {
                panic!("killed, then {cut:?}: {wrong}{}", self.around(cut.at));
            }
            *tally.entry(cut.loss).or_default() += 1;
        }
        tally
    }

    fn kill(&self, disk: &Disk, cut: Cut, chance: &mut Chance) -> Result<(), String> {
        let killed = folder();
        let restored = disk.restore(self.dir.path(), killed.path(), Loss::Nothing, chance);
        restored.map_err(|error| format!("making an image: {error}"))?;
        let mut disk = disk.moved(self.dir.path(), killed.path());
        let drive = Drive::noting_on(disk.names());
        let store = self.open(killed.path(), &drive)?;
        let steps_done = sound(&self.work, &*store, self.allowed(cut.at))?;
        let last = steps_done.checked_sub(1).and_then(|last| self.work.steps.get(last));
        let expected = match last {
            // A caller whose append was not answered repeats the append.
            Some(step @ Step::Append(..)) if chance.below(2) == 0 => {
                step.take(&*store).map_err(|error| format!("again, the step fails: {error}"))?;
                self.work.pictures[steps_done].clone()
            }
            Some(step) => match step.session() {
                Some(session) => self.add(&*store, session, steps_done)?,
                None => self.next(&*store, steps_done)?,
            },
            None => self.next(&*store, steps_done)?,
        };
        drive.journal().iter().for_each(|entry| disk.follow(entry));
        let cut_off = folder();
        let restored = disk.restore(killed.path(), cut_off.path(), cut.loss, chance);
        restored.map_err(|error| format!("making an image: {error}"))?;
        drop(store);
        self.holds(cut_off.path(), &expected)
    }

    /// Runs the workload's step after the first `steps_done` steps, if there is one. Returns the
    /// contents that the store must durably have afterwards.
    fn next(&self, store: &dyn Store, steps_done: usize) -> Result<Picture, String> {
        let Some(step) = self.work.steps.get(steps_done) else {
            return Ok(self.work.pictures[steps_done].clone());
        };
        step.take(store).map_err(|error| format!("step {steps_done} now fails: {error}"))?;
        let durable = step.writes() && step.is_durable();
        let there = if durable { steps_done + 1 } else { steps_done };
        Ok(self.work.pictures[there].clone())
    }

    /// Appends an event to the session `id` and returns the contents of the store afterwards. Fails
    /// if the store refuses the append.
    fn add(&self, store: &dyn Store, id: &SessionId, steps_done: usize) -> Result<Picture, String> {
        let memory = || Handle::new(MemoryStore::default());
        let event = Scene::new(&memory).appending(vec![user("behind a kill")]);
        let header = store.header(id).map_err(|error| format!("reading {id}: {error}"))?;
        let owner = header.lease.map(|lease| lease.owner);
        let append = Append { now: self.late(), owner, ..event };
        let added = store.append(id, append);
        added.map_err(|error| format!("the next append to {id} fails: {error}"))?;
        Picture::of(store, FILE).map_err(|error| format!("reading: {error}")).inspect(|now| {
            assert_ne!(*now, self.work.pictures[steps_done], "the append is not there");
        })
    }

    /// Returns the latest update time that any session has during the workload.
    fn late(&self) -> jiff::Timestamp {
        let last = self.work.pictures.iter().flat_map(|picture| picture.sessions.values());
        last.map(|(header, _)| header.updated).max().unwrap_or_default()
    }

    fn holds(&self, dir: &Path, expected: &Picture) -> Result<(), String> {
        let store = self.open(dir, &Drive::sound())?;
        let found = store.verify(None).map_err(|error| format!("verify: {error}"))?;
        if !found.problems.is_empty() {
            return Err(format!("verify finds {:?}", found.problems));
        }
        let there = Picture::of(&*store, FILE).map_err(|error| format!("reading: {error}"))?;
        match there.fits(expected) {
            true => Ok(()),
            false => Err(format!("not as it was acknowledged: {}", there.difference(expected))),
        }
    }
}
