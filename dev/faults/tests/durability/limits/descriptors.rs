//! Tests with a process that may have no more than 64 files open.

use forklore_faults::history::Line;
use forklore_faults::kind::Kind;
use forklore_faults::process::Task;

use crate::world::{World, for_each_store};

for_each_store!(few_are_enough);

fn few_are_enough(kind: Kind) {
    let mut world = World::new(kind, 0);
    let mut process = World::start(&Task { work: "descriptors".into(), ..world.task("few", 0) });
    process.go();
    let (status, lines) = process.ended::<Line>();
    world.note("few", &lines);
    assert!(status.success(), "the process failed; {:?}", world.history.last());
    world.assert_sound_though_limited();
}
