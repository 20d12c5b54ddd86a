//! Tests that cut the power before every sync of a workload and at random points. Afterwards all
//! acknowledged data must be there, and no step may be incomplete.

use forklore_faults::power::{PowerCut, Tally, Together};
use forklore_faults::soak::{Chance, seed, times};
use forklore_faults::subject::{Files, Sqlite, Subject};
use forklore_faults::workload::Workload;

/// Checks this call's share of at least `promised` disk images: share number `part` of `parts`. A
/// soak repeats this in several rounds, each with other texts.
fn cut_power(subject: &dyn Subject, promised: usize, part: usize, parts: usize) {
    cut_power_under(subject, Workload::of_round, promised, part, parts);
}

/// Does the same as [`cut_power`] with another workload.
fn cut_power_under(
    subject: &dyn Subject,
    work: fn(u64) -> Workload,
    promised: usize,
    part: usize,
    parts: usize,
) {
    let (seed, rounds) = (seed(), times(1));
    println!("seed {seed}, {rounds} rounds");
    let mut tally = Tally::new();
    for round in 0..rounds {
        let work = PowerCut::of(subject, work(round));
        let cuts = work.cuts(promised, &mut Chance::new(seed, round));
        // Consecutive cuts have different losses, in a cycle. A part gets complete cycles, so that
        // it includes each loss.
        let round_of = |number: usize| number / subject.losses().len();
        let mine: Vec<_> = cuts
            .into_iter()
            .enumerate()
            .filter(|(number, _)| round_of(*number) % parts == part)
            .map(|(_, cut)| cut)
            .collect();
        let stream = round * parts as u64 + part as u64;
        for (loss, count) in work.run(&mine, &mut Chance::new(seed, 1_000 + stream)) {
            *tally.entry(loss).or_default() += count;
        }
    }
    println!("images by what of the unsynced was lost: {tally:?}");
    let total: u64 = tally.values().sum();
    assert!(total >= times((promised / parts) as u64), "{total} images are too few");
    assert_eq!(tally.len(), subject.losses().len());
}

#[test]
fn sqlite_keeps_what_it_acknowledged_when_the_power_is_cut_1() {
    cut_power(&Sqlite::over_vfs("power-1"), 600, 0, 2);
}

#[test]
fn sqlite_keeps_what_it_acknowledged_when_the_power_is_cut_2() {
    cut_power(&Sqlite::over_vfs("power-2"), 600, 1, 2);
}

#[test]
fn files_lose_nothing_acknowledged_when_the_power_is_cut_1() {
    cut_power(&Files, 600, 0, 2);
}

#[test]
fn files_lose_nothing_acknowledged_when_the_power_is_cut_2() {
    cut_power(&Files, 600, 1, 2);
}

/// Kills a process, runs a step in another process, and then cuts the power. Checks the disk
/// images.
fn kill_and_cut_power(subject: &dyn Subject, work: fn(u64) -> Workload, promised: usize) {
    let (seed, rounds) = (seed(), times(1));
    println!("seed {seed}, {rounds} rounds");
    let mut tally = Tally::new();
    for round in 0..rounds {
        let work = PowerCut::of(subject, work(round));
        let mut chance = Chance::new(seed, 2_000 + round);
        let cuts = work.kills(promised, &mut chance);
        for (loss, count) in work.run_after_kills(&cuts, &mut chance) {
            *tally.entry(loss).or_default() += count;
        }
    }
    println!("images by what of the unsynced was lost: {tally:?}");
    assert!(tally.values().sum::<u64>() >= times(promised as u64));
    assert_eq!(tally.len(), subject.losses().len());
}

#[test]
fn sqlite_builds_on_nothing_that_a_killed_process_did_not_sync() {
    kill_and_cut_power(&Sqlite::over_vfs("kill-power"), Workload::of_round, 250);
}

#[test]
fn files_build_on_nothing_that_a_killed_process_did_not_sync() {
    kill_and_cut_power(&Files, Workload::of_round, 250);
}

#[test]
fn attachments_of_sqlite_are_there_when_the_power_is_cut() {
    cut_power_under(&Sqlite::over_vfs("kept-power"), Workload::on_attachments, 600, 0, 1);
}

#[test]
fn attachments_of_files_are_there_when_the_power_is_cut() {
    cut_power_under(&Files, Workload::on_attachments, 600, 0, 1);
}

#[test]
fn nobody_names_attachments_that_a_killed_process_did_not_sync() {
    let sqlite = Sqlite::over_vfs("kept-kill-power");
    kill_and_cut_power(&sqlite, Workload::on_attachments, 250);
}

#[test]
fn nobody_names_what_a_killed_process_did_not_sync_in_files() {
    kill_and_cut_power(&Files, Workload::on_attachments, 250);
}

/// Like the tests above, but a background thread runs the checkpoints during later steps.
#[test]
fn sqlite_keeps_what_it_acknowledged_while_a_thread_writes_back() {
    cut_power(&Sqlite::over_vfs("thread-power").with_thread(), 300, 0, 1);
}

/// Checks disk images after a power cut during concurrent appends by several threads. Returns the
/// highest average number of appends per sync of a round.
fn threads_at_once(sqlite: &Sqlite) -> f64 {
    let mut most: f64 = 0.0;
    for round in 0..times(1) {
        let threads = Together::append(sqlite);
        let tally = threads.run(300, &mut Chance::new(seed(), 3_000 + round));
        println!("{:.1} appends for each sync, by what was lost: {tally:?}", threads.sharing());
        assert_eq!(tally.len(), sqlite.losses().len());
        most = most.max(threads.sharing());
    }
    most
}

#[test]
fn sqlite_loses_nothing_acknowledged_to_threads_that_share_syncs() {
    let sharing = threads_at_once(&Sqlite::over_vfs("together").without_checkpoints());
    assert!(sharing > 1.1, "nothing was shared");
}

#[test]
fn sqlite_loses_nothing_acknowledged_while_another_thread_checkpoints() {
    threads_at_once(&Sqlite::over_vfs("together-thread").with_thread());
}
