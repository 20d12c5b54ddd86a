//! Tests in which processes are started one after the other, and each is killed during its work.

use std::time::{Duration, Instant};

use forklore_faults::history::Line;
use forklore_faults::kind::Kind;
use forklore_faults::soak::{Chance, seed, times};

use crate::world::{World, for_each_store};

const STORES: u64 = 6;
const KILLS: u64 = 50;
/// How long an unfinished copy may be inactive before a garbage collection removes it.
const ABANDONED: Duration = Duration::from_secs(11);

for_each_store!(nothing_acknowledged_is_lost);

fn nothing_acknowledged_is_lost(kind: Kind) {
    let mut first = None;
    for number in 0..times(STORES) {
        let mut world = World::new(kind, number);
        let mut chance = Chance::new(seed(), number);
        for kill in 0..KILLS {
            killed(&mut world, &mut chance, &format!("k{kill}"));
            // In the other rounds, the next process opens the store exactly as the kill left it.
            if chance.below(3) == 0 {
                let opened = world.folder.open();
                world.claim_open(&opened, &format!("c{kill}"));
            }
            world.file.grow(20);
        }
        world.assert_sound();
        first.get_or_insert((Instant::now(), world));
    }
    let (since, world) = first.expect("a store");
    std::thread::sleep(ABANDONED.saturating_sub(since.elapsed()));
    world.assert_erased();
}

/// Starts a process and kills it at a random moment.
fn killed(world: &mut World, chance: &mut Chance, name: &str) {
    let mut process = World::start(&world.task(name, 0));
    process.go();
    let mut lines: Vec<Line> = Vec::new();
    let wait = if chance.below(2) == 0 {
        // The kill hits a step that has just begun or was just acknowledged.
        for _ in 0..chance.below(40) {
            lines.push(process.received().expect("a process that works"));
        }
        chance.below(3_000)
    } else {
        1_000 + chance.below(59_000)
    };
    std::thread::sleep(Duration::from_micros(wait));
    lines.extend(process.killed::<Line>());
    world.note(name, &lines);
}
