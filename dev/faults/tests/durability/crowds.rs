//! Tests with eight concurrent processes, some of them killed, and with a process that is stopped
//! while it has a lock.

use std::time::Duration;

use forklore_faults::check::log;
use forklore_faults::history::{Answer, Call, Line};
use forklore_faults::kind::Kind;
use forklore_faults::process::{Process, Task};
use forklore_faults::soak::{Chance, seed, times};
use forklore_faults::work::ONE;
use rustix::process::Signal;

use crate::world::{World, for_each_store};

const PROCESSES: usize = 8;
/// The number of appends of each process to the shared session.
const APPENDS: u64 = 500;
/// The number of rounds in which all processes make random calls. In every second round, half of
/// the processes are killed.
const ROUNDS: u64 = 4;
/// The number of calls of each process in a round.
const CALLS: u64 = 60;

/// The name of a process in the history, and the process.
type Named = (String, Process);

for_each_store!(
    nobody_starves,
    everything_at_once,
    a_stopped_writer_is_no_end,
    a_second_handle_takes_nothing_from_the_first
);

fn nobody_starves(kind: Kind) {
    for round in 0..times(1) {
        let mut world = World::new(kind, round);
        let tasks = (0..PROCESSES).map(|number| {
            let task = world.task(&format!("p{number}"), APPENDS);
            Task { work: "append".into(), ..task }
        });
        let processes: Vec<_> = tasks.map(|task| World::start(&task)).collect();
        let processes = processes.into_iter().enumerate();
        let named = processes.map(|(number, process)| (format!("p{number}"), process));
        finish(&mut world, named.collect(), |_| {});
        assert_fair(&world);
        world.assert_sound();
    }
}

/// Checks fairness: when the first process had finished all its appends, every other process had
/// done at least a quarter of its own.
fn assert_fair(world: &World) {
    let mut done = [0; PROCESSES];
    for stored in log(&world.folder.open(), ONE).unwrap() {
        let writer = stored.event.id.as_str().strip_prefix('p').and_then(|id| id.split('.').next());
        let Some(number) = writer.and_then(|number| number.parse::<usize>().ok()) else { continue };
        done[number] += 1;
        if done[number] == APPENDS {
            break;
        }
    }
    assert!(done.iter().all(|done| *done >= APPENDS / 4), "{done:?}");
}

fn everything_at_once(kind: Kind) {
    for round in 0..times(ROUNDS) {
        let mut world = World::new(kind, round);
        let mut chance = Chance::new(seed(), round);
        let names = (0..PROCESSES).map(|number| format!("p{number}"));
        let tasks = names.map(|name| world.task(&name, CALLS));
        let mut processes: Vec<Named> =
            tasks.map(|task| (task.name.clone(), World::start(&task))).collect();
        let mut killed = if round % 2 == 1 { processes.split_off(PROCESSES / 2) } else { vec![] };
        killed.iter_mut().for_each(|(_, process)| process.go());
        finish(&mut world, processes, |world| {
            for _ in 0..PROCESSES {
                std::thread::sleep(Duration::from_micros(chance.below(60_000)));
                world.file.grow(20);
                if let Some((name, process)) = killed.pop() {
                    world.note(&name, &process.killed::<Line>());
                }
            }
        });
        world.assert_sound();
    }
}

/// Starts the processes at the same time, runs `meanwhile`, and waits until all processes end with
/// success.
fn finish(world: &mut World, mut processes: Vec<Named>, meanwhile: impl FnOnce(&mut World)) {
    processes.iter_mut().for_each(|(_, process)| process.go());
    meanwhile(world);
    for (name, process) in processes {
        let (status, lines) = process.ended::<Line>();
        assert!(status.success(), "process {name} failed");
        world.note(&name, &lines);
    }
}

fn a_stopped_writer_is_no_end(kind: Kind) {
    let mut world = World::new(kind, 0);
    let task = Task { work: "append".into(), ..world.task("p0", 0) };
    let mut process = World::start(&task);
    process.go();
    let opened = world.folder.open();
    let mut chance = Chance::new(seed(), 0);
    // Stops the process again and again, until it is stopped while it has a lock and an append is
    // refused.
    let answer = (0..1_000).find_map(|attempt| {
        std::thread::sleep(Duration::from_micros(5_000 + chance.below(5_000)));
        process.signal(Signal::STOP);
        let answer = world.call(&format!("a{attempt}"), &opened, &appending(attempt));
        // Reads never wait for other processes, not even for a stopped one.
        assert!(log(&opened, ONE).unwrap().len() > 1);
        process.signal(Signal::CONT);
        (!answer.is_done()).then_some(answer)
    });
    let Some(Answer::Refused { kind, message, .. }) = answer else {
        panic!("it was never stopped inside a step: {answer:?}");
    };
    assert_eq!(kind, "busy", "{message}");
    let after = world.call("after", &opened, &appending(1_000));
    assert!(after.is_done(), "{after:?}");
    world.note("p0", &process.killed::<Line>());
    world.assert_sound();
}

/// Tests that a process can use two handles of the same store, whatever other processes do and when
/// they end. POSIX locks belong to a process: if it closes one file, it loses all its locks on that
/// file.
fn a_second_handle_takes_nothing_from_the_first(kind: Kind) {
    let mut world = World::new(kind, 0);
    let first = world.folder.open();
    for round in 0..10 {
        assert!(world.call(&format!("first{round}"), &first, &appending(3 * round)).is_done());
        let second = world.folder.open();
        let name = format!("p{round}");
        let process = World::start(&Task { work: "append".into(), ..world.task(&name, 3) });
        assert!(
            world.call(&format!("second{round}"), &second, &appending(3 * round + 1)).is_done()
        );
        if round % 2 == 0 {
            drop(second);
        }
        finish(&mut world, vec![(name, process)], |_| {});
        assert!(world.call(&format!("third{round}"), &first, &appending(3 * round + 2)).is_done());
    }
    drop(first);
    world.assert_sound();
}

fn appending(number: u64) -> Call {
    let events = vec![format!("parent.{number}")];
    Call::Append { session: ONE.into(), events, expect: None }
}
