//! Tests in which one file operation of a workload fails, in every possible way.
//!
//! After each fault, the step that the fault struck is stored completely or not at all, and every
//! other step is unchanged. Verification finds no problems, and the next step succeeds. After a
//! failed sync, the next step only succeeds on a newly opened handle.

use std::time::Duration;

use forklore_conformance::Scene;
use forklore_conformance::events::user;
use forklore_conformance::scene::id;
use forklore_faults::drive::{Drive, Fault, Mode, Shape};
use forklore_faults::picture::log;
use forklore_faults::soak::{Chance, seed, times};
use forklore_faults::subject::{Files, Sqlite, Subject};
use forklore_faults::sweep::{Sweep, Tally, folder};
use forklore_faults::workload::Workload;
use forklore_store::Error;
use forklore_store::memory::MemoryStore;

/// Runs the workload `promised` times, each time with another operation that fails in this mode.
/// Part 0 takes the first `promised` faults that were picked, and each further part the following
/// ones. A soak repeats this in several rounds, each with other texts.
fn sweep(subject: &dyn Subject, mode: Mode, promised: usize, part: usize) {
    let (seed, rounds) = (seed(), times(1));
    println!("seed {seed}, {rounds} rounds");
    let mut tally = Tally::default();
    for round in 0..rounds {
        let sweep = Sweep::of_round(subject, round);
        let faults = sweep.faults(mode, promised * (part + 1), &mut Chance::new(seed, round));
        tally.add(&sweep.run(faults.into_iter().skip(promised * part).take(promised)));
    }
    println!("{} faults injected:\n{}", tally.total(), tally.lines());
    assert!(tally.total() >= times(promised as u64), "there are too few operations that can fail");
}

#[test]
fn sqlite_survives_operations_that_fail_1() {
    sweep(&Sqlite::over_vfs("error_1"), Mode::Error, 180, 0);
}

#[test]
fn sqlite_survives_operations_that_fail_2() {
    sweep(&Sqlite::over_vfs("error_2"), Mode::Error, 180, 1);
}

#[test]
fn sqlite_survives_a_disk_that_is_full_for_a_moment() {
    sweep(&Sqlite::over_vfs("full"), Mode::Full, 160, 0);
}

#[test]
fn sqlite_survives_a_disk_that_is_full_for_a_while() {
    sweep(&Sqlite::over_vfs("staysfull"), Mode::StaysFull, 160, 0);
}

#[test]
fn sqlite_survives_writes_that_are_cut_short_by_the_end_1() {
    sweep(&Sqlite::over_vfs("dead_1"), Mode::Dead, 170, 0);
}

#[test]
fn sqlite_survives_writes_that_are_cut_short_by_the_end_2() {
    sweep(&Sqlite::over_vfs("dead_2"), Mode::Dead, 170, 1);
}

/// Tests a failed sync of a checkpoint. The step that ran the checkpoint is durable in the WAL, so
/// it is acknowledged. The next step is refused.
#[test]
fn sqlite_writes_nothing_after_a_failed_sync_of_what_a_checkpoint_wrote() {
    let sqlite = Sqlite::over_vfs("checkpoint");
    let memory = || forklore_conformance::Handle::new(MemoryStore::default());
    // Makes `appends` appends. If `nth` is given, operation number `nth` of the last append fails.
    // Returns the operations of the last append.
    let run = |appends: u64, nth: Option<usize>| {
        let (dir, drive) = (folder(), Drive::sound());
        let store = sqlite.open(dir.path(), &drive).unwrap();
        let scene = Scene::new(&memory);
        let append = |text: &str| {
            store.append(&id("a"), scene.appending(vec![user(text)])).map(|done| done.head_seq)
        };
        store.create(scene.draft("a", Vec::new())).unwrap();
        for step in 1..appends {
            append(&step.to_string()).unwrap();
        }
        let before = drive.shapes().len();
        if let Some(nth) = nth {
            drive.arm(Fault { at: before + nth, mode: Mode::Error });
        }
        let head = append("acknowledged").unwrap();
        let shapes = drive.shapes().split_off(before);
        let next = append("refused");
        if nth.is_some() {
            assert_eq!(drive.hit(), Some(Shape::Sync));
            assert!(matches!(next, Err(Error::Poisoned { .. })), "{next:?}");
            let there = usize::try_from(appends).unwrap();
            assert_eq!(log(&*store, &id("a")).unwrap().len(), there);
            drop(store);
            let store = sqlite.open(dir.path(), &drive).unwrap();
            assert_eq!(store.verify(None).unwrap().problems, []);
            assert_eq!(store.header(&id("a")).unwrap().head_seq(), head);
            store.append(&id("a"), scene.appending(vec![user("works")])).unwrap();
        }
        shapes
    };
    let syncs_of = |shapes: &[Shape]| {
        (0..shapes.len()).filter(|at| shapes[*at] == Shape::Sync).collect::<Vec<_>>()
    };
    let many = u64::from(Sqlite::PAGES);
    let with_checkpoint = (2..many).find(|appends| syncs_of(&run(*appends, None)).len() > 1);
    let appends = with_checkpoint.expect("a checkpoint");
    let syncs = syncs_of(&run(appends, None));
    // The first sync belongs to the step, which would fail if that sync failed. The others belong
    // to the checkpoint: it syncs the WAL and the database file.
    assert!(syncs.len() > 2, "{syncs:?}");
    for nth in &syncs[1..] {
        run(appends, Some(*nth));
    }
}

/// Tests that threads that share a failed sync get no acknowledgement: neither for the steps that
/// the sync should have made durable, nor for later steps.
#[test]
fn sqlite_tells_no_thread_of_a_step_behind_a_failed_sync() {
    const THREADS: usize = 6;
    let sqlite = Sqlite::over_vfs("shared-sync").without_checkpoints();
    for round in 0..times(10) {
        let (dir, drive) = (folder(), Drive::noting_slowly(Duration::from_micros(300)));
        let store = sqlite.open(dir.path(), &drive).unwrap();
        let memory = || forklore_conformance::Handle::new(MemoryStore::default());
        for thread in 0..THREADS {
            store.create(Scene::new(&memory).draft(&format!("s{thread}"), Vec::new())).unwrap();
        }
        // Returns the number of acknowledged appends of a thread, and the error that ended the
        // thread.
        let work = |thread: usize| {
            let (scene, session) = (Scene::new(&memory), id(&format!("s{thread}")));
            for reported in 0.. {
                if thread == 0 && reported == 5 + round {
                    drive.fail_next_sync();
                }
                let failed = drive.hit().is_some();
                match store.append(&session, scene.appending(vec![user("one more")])) {
                    Ok(_) => assert!(!failed, "told behind a failed sync"),
                    Err(error) => return (usize::try_from(reported).unwrap(), error),
                }
            }
            unreachable!("until it fails");
        };
        let work = &work;
        let ended: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..THREADS).map(|thread| scope.spawn(move || work(thread))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let others = ended.iter().filter(|(_, error)| matches!(error, Error::Poisoned { .. }));
        assert!(others.count() >= THREADS - 1, "{ended:?}");
        drop(store);
        let store = sqlite.open(dir.path(), &drive).unwrap();
        for (thread, (report, _)) in ended.iter().enumerate() {
            let there = log(&*store, &id(&format!("s{thread}"))).unwrap().len();
            assert!((*report..=report + 1).contains(&there), "{there} events, {report} told");
        }
        assert_eq!(store.verify(None).unwrap().problems, []);
    }
}

#[test]
fn files_survive_operations_that_fail_1() {
    sweep(&Files, Mode::Error, 180, 0);
}

#[test]
fn files_survive_operations_that_fail_2() {
    sweep(&Files, Mode::Error, 180, 1);
}

#[test]
fn files_survive_a_disk_that_is_full_for_a_moment() {
    sweep(&Files, Mode::Full, 160, 0);
}

#[test]
fn files_survive_a_disk_that_is_full_for_a_while() {
    sweep(&Files, Mode::StaysFull, 160, 0);
}

#[test]
fn files_survive_writes_that_are_cut_short_by_the_end_1() {
    sweep(&Files, Mode::Dead, 170, 0);
}

#[test]
fn files_survive_writes_that_are_cut_short_by_the_end_2() {
    sweep(&Files, Mode::Dead, 170, 1);
}

/// Makes each operation of the attachment workload fail in this mode, one per run.
fn sweep_attachments(subject: &dyn Subject, mode: Mode) {
    let (seed, rounds) = (seed(), times(1));
    println!("seed {seed}, {rounds} rounds");
    let mut tally = Tally::default();
    for round in 0..rounds {
        let sweep = Sweep::of(subject, Workload::on_attachments(round));
        tally.add(&sweep.run(sweep.faults(mode, usize::MAX, &mut Chance::new(seed, round))));
    }
    println!("{} faults injected:\n{}", tally.total(), tally.lines());
    assert!(tally.total() >= times(40), "there are too few operations that can fail");
}

/// Creates a test of each listed mode for each store. Each test creates its own subject.
macro_rules! attachments_survive {
    ($($store:ident: $subject:expr => {$($test:ident: $mode:ident),+ $(,)?})+) => {
        $(mod $store {
            use super::*;

            $(#[test]
            fn $test() {
                sweep_attachments(&$subject(concat!("kept_", stringify!($mode))), Mode::$mode);
            })+
        })+
    };
}

attachments_survive! {
    attachments_of_sqlite: Sqlite::over_vfs => {
        survive_operations_that_fail: Error,
        survive_a_disk_that_is_full_for_a_moment: Full,
        survive_a_disk_that_is_full_for_a_while: StaysFull,
        survive_writes_that_are_cut_short_by_the_end: Dead,
    }
    attachments_of_files: (|_| Files) => {
        survive_operations_that_fail: Error,
        survive_a_disk_that_is_full_for_a_moment: Full,
        survive_a_disk_that_is_full_for_a_while: StaysFull,
        survive_writes_that_are_cut_short_by_the_end: Dead,
    }
}
