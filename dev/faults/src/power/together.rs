//! Cuts the power while several threads append, each to its own session.
//!
//! The threads share syncs. If a thread waits for a sync that another thread began, that sync makes
//! the waiting thread's step durable only if it began after the step was written.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use forklore_conformance::events::user;
use forklore_conformance::scene::id;
use forklore_conformance::{Handle, Scene};
use forklore_store::memory::MemoryStore;
use tempfile::TempDir;

use super::{Tally, syncs};
use crate::drive::{Drive, Entry, Mark};
use crate::image::Disk;
use crate::picture::log;
use crate::soak::Chance;
use crate::subject::Subject;
use crate::sweep::folder;
use forklore_store::Store;

const THREADS: usize = 6;
/// The number of appends of each concurrent thread.
const APPENDS: usize = 40;
/// How much longer each sync takes, so that other threads can commit during the sync.
const SYNC: Duration = Duration::from_micros(300);

/// A store to which several threads appended concurrently, with the journal of the disk operations.
pub struct Together<'a> {
    subject: &'a dyn Subject,
    journal: Vec<Entry>,
    dir: TempDir,
}

/// How many of a thread's appends had begun, and how many of these were acknowledged.
#[derive(Clone, Copy, Debug, Default)]
struct Done {
    begun: usize,
    acknowledged: usize,
}

impl<'a> Together<'a> {
    /// Lets several threads append to one store, each to a session of its own. Returns when all
    /// threads have finished.
    ///
    /// # Panics
    /// If a call fails.
    #[must_use]
    pub fn append(subject: &'a dyn Subject) -> Self {
        let (dir, drive) = (folder(), Drive::noting_slowly(SYNC));
        let store = subject.open(dir.path(), &drive).expect("the store opens");
        let memory = || Handle::new(MemoryStore::default());
        let scene = Scene::new(&memory);
        for thread in 0..THREADS {
            store.create(scene.draft(&name(thread), Vec::new())).expect("a session");
        }
        let work = |thread: usize| {
            let memory = || Handle::new(MemoryStore::default());
            let scene = Scene::new(&memory);
            for append in 0..APPENDS {
                let step = thread * APPENDS + append;
                drive.mark(Mark::Begun(step));
                let events = scene.appending(vec![user(&text(thread, append))]);
                store.append(&id(&name(thread)), events).expect("an append");
                drive.mark(Mark::Acknowledged(step));
            }
        };
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let work = &work;
                scope.spawn(move || work(thread));
            }
        });
        drop(store);
        Self { subject, journal: drive.journal(), dir }
    }

    /// Returns how many appends share a sync on average: the number of appends divided by that of
    /// syncs.
    #[must_use]
    pub fn sharing(&self) -> f64 {
        (THREADS * APPENDS) as f64 / syncs(&self.journal).count() as f64
    }

    /// Simulates power cuts right before and right after each sync, and checks the store on each
    /// resulting disk image. If there are more than `most` such images, checks `most` random ones.
    ///
    /// # Panics
    /// If acknowledged data is lost, or if the store violates another check.
    #[must_use]
    pub fn run(&self, most: usize, chance: &mut Chance) -> Tally {
        let losses = self.subject.losses();
        let cuts = syncs(&self.journal).flat_map(|at| {
            // Right before and right after the sync.
            losses.iter().flat_map(move |loss| [(at, *loss), (at + 1, *loss)])
        });
        let mut cuts: Vec<_> = cuts.collect();
        while cuts.len() > most {
            let one = chance.below(cuts.len() as u64);
            cuts.swap_remove(usize::try_from(one).unwrap_or(0));
        }
        cuts.sort_by_key(|(at, _)| *at);
        let (mut tally, mut disk, mut followed) = (BTreeMap::new(), Disk::default(), 0);
        for (at, loss) in cuts {
            // Advances to the next change of the disk: acknowledgements before that change happened
            // before the power cut.
            let at = self.reported_up_to(at);
            self.journal[followed..at].iter().for_each(|entry| disk.follow(entry));
            followed = at;
            let image = folder();
            disk.restore(self.dir.path(), image.path(), loss, chance).expect("an image");
            let judged = self.judge(image.path(), &self.done(0..at));
            judged.unwrap_or_else(|wrong| panic!("{at}, {loss:?}: {wrong}"));
            *tally.entry(loss).or_default() += 1;
        }
        tally
    }

    fn reported_up_to(&self, at: usize) -> usize {
        let rest = self.journal.iter().skip(at);
        at + rest.take_while(|entry| matches!(entry, Entry::Mark(_))).count()
    }

    fn done(&self, entries: Range<usize>) -> [Done; THREADS] {
        let mut done = [Done::default(); THREADS];
        for entry in &self.journal[entries] {
            match entry {
                Entry::Mark(Mark::Begun(step)) => done[step / APPENDS].begun += 1,
                Entry::Mark(Mark::Acknowledged(step)) => done[step / APPENDS].acknowledged += 1,
                _ => {}
            }
        }
        done
    }

    fn judge(&self, dir: &Path, done: &[Done; THREADS]) -> Result<(), String> {
        let opened = self.subject.open(dir, &Drive::sound());
        let store = opened.map_err(|error| format!("it does not open: {error}"))?;
        let found = store.verify(None).map_err(|error| format!("verify: {error}"))?;
        if !found.problems.is_empty() {
            return Err(format!("verify finds {:?}", found.problems));
        }
        let mut threads = done.iter().enumerate();
        threads.try_for_each(|(thread, done)| of_thread(&*store, thread, *done))
    }
}

/// Checks a thread's session: it must contain every acknowledged append, and no append that had not
/// begun.
fn of_thread(store: &dyn Store, thread: usize, done: Done) -> Result<(), String> {
    // Without a begun append, the session itself may be missing: the sessions are created one by
    // one before the threads start.
    if done.begun == 0 {
        return Ok(());
    }
    let session = name(thread);
    let events = log(store, &id(&session)).map_err(|error| format!("reading: {error}"))?;
    if !(done.acknowledged..=done.begun).contains(&events.len()) {
        return Err(format!("{session} has {} events: {done:?}", events.len()));
    }
    let wrong = events.iter().enumerate().find(|(append, event)| {
        !event.event.data.get().contains(&format!("\"{}\"", text(thread, *append)))
    });
    wrong.map_or(Ok(()), |(append, _)| Err(format!("event {append} of {session} is another's")))
}

fn name(thread: usize) -> String {
    format!("thread{thread}")
}

fn text(thread: usize, append: usize) -> String {
    format!("{thread}.{append}")
}
