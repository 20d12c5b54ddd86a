//! Makes one file operation of a workload fail, and checks the store afterwards.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use forklore_store::Error;
use tempfile::TempDir;

use crate::drive::{Drive, Fault, Mode, Shape};
use crate::soak::Chance;
use crate::subject::Subject;
use crate::workload::{Step, Workload};
use forklore_store::Store;

/// A test that runs one workload on a store repeatedly. In each run, one file operation fails on
/// purpose.
pub struct Sweep<'a> {
    subject: &'a dyn Subject,
    work: Workload,
    shapes: Vec<Shape>,
}

/// Counts of the file operations that failed as planned. There is one count for each pair of a mode
/// (how the operation failed) and a shape (the kind of operation).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally(BTreeMap<(Mode, Shape), u64>);

impl Tally {
    /// Returns the total number of file operations that failed as planned.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// Adds the counts of another tally to this one.
    pub fn add(&mut self, other: &Self) {
        for (kind, count) in &other.0 {
            *self.0.entry(*kind).or_default() += count;
        }
    }

    /// Formats the counts as text. Each line has the count for one mode (how operations failed) and
    /// one kind of operation.
    #[must_use]
    pub fn lines(&self) -> String {
        self.0.iter().fold(String::new(), |mut text, ((mode, shape), count)| {
            let _ = writeln!(text, "  {mode:?} of {shape:?}: {count}");
            text
        })
    }
}

/// Creates an empty directory, in `/dev/shm` if the machine has it.
///
/// # Panics
/// If no directory can be created.
#[must_use]
pub fn folder() -> TempDir {
    let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    dir.expect("a temporary folder")
}

impl<'a> Sweep<'a> {
    /// Prepares runs of the main workload, generated for round `round`. Executes the workload once
    /// without injected failures, to record its file operations.
    ///
    /// # Panics
    /// If the store returns an error although no failure was injected.
    #[must_use]
    pub fn of_round(subject: &'a dyn Subject, round: u64) -> Self {
        Self::of(subject, Workload::of_round(round))
    }

    /// Prepares runs of the given workload. Executes it once without injected failures, to record
    /// its file operations.
    ///
    /// # Panics
    /// If the store returns an error although no failure was injected.
    #[must_use]
    pub fn of(subject: &'a dyn Subject, work: Workload) -> Self {
        let (dir, drive) = (folder(), Drive::sound());
        let store = subject.open(dir.path(), &drive).expect("the store opens");
        for (number, step) in work.steps.iter().enumerate() {
            step.take(&*store).unwrap_or_else(|error| panic!("step {number}, {step:?}: {error}"));
        }
        drop(store);
        let shapes = drive.shapes();
        let store = subject.open(dir.path(), &drive).expect("the store opens again");
        let all = work.steps.len();
        work.accepted(&*store, all..=all)
            .unwrap_or_else(|wrong| panic!("nothing failed, but {wrong}"));
        Self { subject, work, shapes }
    }

    /// Plans up to `count` failures in the way `mode`, at random file operations of the workload.
    /// They are distributed evenly over the kinds of operations that can fail in this way.
    #[must_use]
    pub fn faults(&self, mode: Mode, count: usize, chance: &mut Chance) -> Vec<Fault> {
        let mut left: BTreeMap<Shape, Vec<usize>> = BTreeMap::new();
        for (at, shape) in self.shapes.iter().enumerate().filter(|(_, shape)| mode.fits(**shape)) {
            left.entry(*shape).or_default().push(at);
        }
        let mut faults = Vec::new();
        while faults.len() < count && left.values().any(|positions| !positions.is_empty()) {
            for locations in left.values_mut().filter(|positions| !positions.is_empty()) {
                let chosen = chance.below(locations.len() as u64);
                let at = locations.swap_remove(usize::try_from(chosen).unwrap_or(0));
                faults.push(Fault { at, mode });
            }
        }
        faults
    }

    /// Runs the workload once per planned failure, each time in a new store. Checks the store after
    /// each run.
    ///
    /// # Panics
    /// If the store loses data, contains an incomplete step, or violates another check.
    #[must_use]
    pub fn run(&self, faults: impl IntoIterator<Item = Fault>) -> Tally {
        let mut tally = Tally::default();
        for fault in faults {
            let run = Run::begin(self, fault);
            let struck = run.judge().unwrap_or_else(|wrong| panic!("{fault:?}: {wrong}"));
            *tally.0.entry((fault.mode, struck)).or_default() += 1;
        }
        tally
    }
}

/// One run of a workload in which one file operation fails as planned.
struct Run<'a> {
    sweep: &'a Sweep<'a>,
    fault: Fault,
    dir: TempDir,
    drive: Arc<Drive>,
}

/// The planned failure of a file operation, as it occurred in a run of the workload. Contains when
/// it occurred, and the result of the workload step during which it occurred.
struct Struck {
    /// The number of workload steps that were acknowledged before the operation failed.
    before: usize,
    /// The result of the workload step during which the operation failed. `None` if it failed while
    /// the store was opened or closed.
    step: Option<Result<(), Error>>,
    shape: Shape,
    /// The number of file operations that had run when the workload step with the failure ended. 0
    /// if no step was running.
    operations: usize,
}

impl Struck {
    /// Returns how many steps of the workload the store may contain after the failure. If the store
    /// returned an error, the failed step may be stored or not.
    fn allowed(&self) -> RangeInclusive<usize> {
        match &self.step {
            None => self.before..=self.before,
            Some(Ok(())) => self.before + 1..=self.before + 1,
            Some(Err(_)) => self.before..=self.before + 1,
        }
    }

    fn summary(&self) -> String {
        match &self.step {
            None => format!("{:?} failed, beside the steps", self.shape),
            Some(Ok(())) => {
                format!("{:?} failed, and step {} was acknowledged", self.shape, self.before)
            }
            Some(Err(error)) => {
                format!("{:?} failed, and step {} with it ({error})", self.shape, self.before)
            }
        }
    }
}

impl<'a> Run<'a> {
    fn begin(sweep: &'a Sweep<'a>, fault: Fault) -> Self {
        Self { sweep, fault, dir: folder(), drive: Drive::with_fault(fault) }
    }

    fn work(&self) -> &Workload {
        &self.sweep.work
    }

    fn open(&self) -> Result<Box<dyn Store>, Error> {
        self.sweep.subject.open(self.dir.path(), &self.drive)
    }

    /// Runs the workload until the planned failure occurs, and then checks the store. Returns the
    /// kind of the operation that failed.
    fn judge(&self) -> Result<Shape, String> {
        let (store, struck) = self.until_struck()?;
        let output = |wrong: String| format!("{}: {wrong}", struck.summary());
        let mut steps_done = None;
        if let Some(store) = store
            && !self.drive.is_dead()
        {
            steps_done = self.go_on(&*store, &struck).map_err(output)?;
        }
        self.drive.repair();
        let store = self.open().map_err(|error| output(format!("it does not open: {error}")))?;
        let allowed = steps_done.map_or(struck.allowed(), |accepted| accepted..=accepted);
        let steps_done = sound(self.work(), &*store, allowed).map_err(output)?;
        let steps_done = self
            .next(&*store, steps_done)
            .map_err(|wrong| output(format!("opened anew: {wrong}")))?;
        drop(store);
        let store = self.open().map_err(|error| output(format!("it does not open: {error}")))?;
        sound(self.work(), &*store, steps_done..=steps_done).map_err(output)?;
        Ok(struck.shape)
    }

    fn until_struck(&self) -> Result<(Option<Box<dyn Store>>, Struck), String> {
        let hit = || self.drive.hit();
        let store = match (self.open(), hit()) {
            (Ok(store), None) => store,
            (opened, Some(shape)) => {
                return Ok((opened.ok(), Struck { before: 0, step: None, shape, operations: 0 }));
            }
            (Err(error), None) => return Err(format!("it does not open: {error}")),
        };
        for (before, step) in self.work().steps.iter().enumerate() {
            let outcome = step.take(&*store);
            if let Some(shape) = hit() {
                let operations = self.drive.shapes().len();
                return Ok((
                    Some(store),
                    Struck { before, step: Some(outcome), shape, operations },
                ));
            }
            outcome
                .map_err(|error| format!("step {before} failed though nothing else: {error}"))?;
        }
        drop(store);
        let shape = hit().ok_or("the operation was not reached")?;
        Ok((None, Struck { before: self.work().steps.len(), step: None, shape, operations: 0 }))
    }

    /// Continues with the open store in which an operation failed, and checks its behaviour.
    /// Returns the number of workload steps that the store contains, or `None` if that is uncertain
    /// after a failed sync.
    fn go_on(&self, store: &dyn Store, struck: &Struck) -> Result<Option<usize>, String> {
        let same = |wrong: String| format!("with the same handle: {wrong}");
        let steps_done = self.work().accepted(store, struck.allowed()).map_err(same)?;
        if self.drive.is_full() {
            let steps = self.work().steps.iter().enumerate().skip(steps_done);
            let mut needs_available = steps.filter(|(_, step)| step.needs_space());
            if let Some((number, step)) = needs_available.next()
                && step.take(store).is_ok()
            {
                return Err(same(format!("step {number} was acknowledged on a full disk")));
            }
            self.drive.repair();
        }
        // Without a step, the handle may have been about to close, so it need not refuse anything.
        if struck.shape.is_sync() && struck.step.is_some() {
            let before = self.drive.shapes().len();
            let refused = self.step_like(struck.before, steps_done).map(|step| step.take(store));
            let refused_at = self.drive.shapes().len();
            return match refused {
                Some(Err(Error::Poisoned { .. })) | None => {
                    self.work().accepted(store, struck.allowed()).map_err(same)?;
                    // The handle must not write any more: neither to undo the failed step nor to
                    // begin the refused step.
                    self.nothing_written(self.fault.at + 1..struck.operations).map_err(same)?;
                    self.nothing_written(before..refused_at).map_err(same)?;
                    Ok(None)
                }
                Some(other) => Err(same(format!("a sync failed, then a step gave {other:?}"))),
            };
        }
        self.next(store, steps_done).map(Some).map_err(same)
    }

    /// Checks that no file operation with an index in `operations` writes. All of them follow a
    /// failed sync, after which the store must not write.
    fn nothing_written(&self, operations: Range<usize>) -> Result<(), String> {
        let shapes = self.drive.shapes();
        let writes = |shape: &Shape| {
            matches!(shape, Shape::Create | Shape::Write | Shape::SetLen | Shape::Rename)
        };
        match shapes[operations].iter().find(|shape| writes(shape)) {
            Some(shape) => Err(format!("a sync failed, and then there was another {shape:?}")),
            None => Ok(()),
        }
    }

    /// Skips the first `steps_done` steps and returns the next one that is like step `struck`. Two
    /// steps are alike if both write to sessions, or both to attachments.
    fn step_like(&self, struck: usize, steps_done: usize) -> Option<&Step> {
        let steps = &self.work().steps;
        let sidecar = steps.get(struck).is_some_and(Step::is_sidecar);
        steps.iter().skip(steps_done).find(|step| step.writes() && step.is_sidecar() == sidecar)
    }

    /// Runs the workload step with the index `steps_done`, i.e. the first that was not done yet.
    /// Does nothing if all steps were done. Returns the number of steps that the store contains
    /// afterwards.
    fn next(&self, store: &dyn Store, steps_done: usize) -> Result<usize, String> {
        let Some(step) = self.work().steps.get(steps_done) else {
            return Ok(steps_done);
        };
        step.take(store).map_err(|error| format!("step {steps_done} now fails: {error}"))?;
        self.work().accepted(store, steps_done + 1..=steps_done + 1)
    }
}

/// Verifies the store and returns how many steps of the workload it contains. The number must be
/// one of `allowed`.
///
/// # Errors
/// A description of the failure.
pub fn sound(
    work: &Workload,
    store: &dyn Store,
    allowed: RangeInclusive<usize>,
) -> Result<usize, String> {
    let found = store.verify(None).map_err(|error| format!("verify: {error}"))?;
    if !found.problems.is_empty() {
        return Err(format!("verify finds {:?}", found.problems));
    }
    work.accepted(store, allowed)
}
