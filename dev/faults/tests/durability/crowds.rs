//! Eight processes at once, with and without kills, and one that stops with a lock in its hand.

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
/// Appends of each process to the session that all share.
const APPENDS: u64 = 500;
/// Rounds in which everybody does everything; in every second one, half of them are killed.
const ROUNDS: u64 = 4;
/// Calls of each process in a round.
const CALLS: u64 = 60;

/// A process and what it is called in the history.
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

/// When the first process was done with the session they share, the others were well on the way.
fn assert_fair(world: &World) {
    let mut done = [0; PROCESSES];
    for stored in log(&world.place.open(), ONE).unwrap() {
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

/// Lets the processes begin at once, and waits for their good end.
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
    let opened = world.place.open();
    let mut chance = Chance::new(seed(), 0);
    // Until it is stopped where it keeps others out.
    let answer = (0..1_000).find_map(|attempt| {
        std::thread::sleep(Duration::from_micros(5_000 + chance.below(5_000)));
        process.signal(Signal::STOP);
        let answer = world.call(&format!("a{attempt}"), &opened, &appending(attempt));
        // Whoever reads waits for nobody.
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

/// A process that opens a store twice goes on in both, whatever other processes do and end in
/// between: the system's locks belong to a process, and closing one file gives all of them up.
fn a_second_handle_takes_nothing_from_the_first(kind: Kind) {
    let mut world = World::new(kind, 0);
    let first = world.place.open();
    for round in 0..10 {
        assert!(world.call(&format!("first{round}"), &first, &appending(3 * round)).is_done());
        let second = world.place.open();
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
