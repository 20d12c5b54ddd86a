//! Cases: the feed of a store to which several processes write.

use forklore_store::port::Since;

use super::following::{Follower, LONG};
use crate::events::turns;
use crate::scene::Scene;

pub(super) fn a_wait_ends_with_a_commit_of_another_process(scene: &Scene<'_>) {
    if scene.argument().is_some() {
        scene.append("a", turns(1));
        return;
    }
    scene.root("a", vec![]);
    let mut reader = Follower::now(scene);
    for head in [1, 3, 5] {
        let case = super::number("a_wait_ends_with_a_commit_of_another_process");
        let other = scene.start(case, "append");
        reader.read(scene, 0, LONG);
        assert_eq!(reader.heads["a"], head);
        scene.finish(other);
    }
}

pub(super) fn another_process_reads_on_from_a_stored_mark(scene: &Scene<'_>) {
    if let Some(mark) = scene.argument() {
        let mut reader = Follower::at(mark);
        assert_eq!(reader.ids(scene, 0), ["b", "a"]);
        scene.root("c", turns(1));
        return;
    }
    scene.root("a", turns(1));
    let mut reader = Follower::from(Since::Beginning);
    reader.drain(scene, 0);
    scene.root("b", turns(1));
    scene.append("a", turns(1));
    let case = super::number("another_process_reads_on_from_a_stored_mark");
    scene.finish(scene.start(case, &reader.stored()));
    assert_eq!(reader.ids(scene, 0), ["b", "a", "c"]);
}

pub(super) fn writers_of_many_processes_leave_no_gap(scene: &Scene<'_>) {
    const EACH: usize = 20;
    if let Some(writer) = scene.argument() {
        scene.root(&format!("of-{writer}"), vec![]);
        for n in 0..EACH {
            scene.append(&format!("of-{writer}"), turns(1));
            scene.append("all", turns(1));
            if n % 5 == 0 {
                scene.fork("all", &format!("{writer}-{n}"), 2, turns(1));
            }
        }
        return;
    }
    scene.root("all", turns(1));
    let mut reader = Follower::from(Since::Beginning);
    let case = super::number("writers_of_many_processes_leave_no_gap");
    let others: Vec<_> = (0..4).map(|writer| scene.start(case, &writer.to_string())).collect();
    let end = (1 + 4 * EACH as i64) * 2 - 1;
    while reader.heads.get("all") != Some(&end) {
        reader.read(scene, 3, LONG);
        assert!(!reader.last.is_empty(), "{:?}", reader.heads);
    }
    others.into_iter().for_each(|other| scene.finish(other));
    reader.drain(scene, 3);
    reader.assert_complete(scene);
    assert_eq!(reader.heads.len(), 1 + 4 + 4 * EACH / 5);
}

pub(super) fn a_killed_writer_leaves_no_gap(scene: &Scene<'_>) {
    if let Some(writer) = scene.argument() {
        for n in 0.. {
            scene.root(&format!("{writer}-{n}"), turns(1));
            scene.append("all", turns(1));
            scene.fork("all", &format!("{writer}-{n}-child"), 2, vec![]);
        }
    }
    scene.root("all", turns(1));
    let case = super::number("a_killed_writer_leaves_no_gap");
    let mut reader = Follower::from(Since::Beginning);
    for round in 0..3 {
        let writers = ["x", "y"].map(|writer| scene.start(case, &format!("{writer}{round}")));
        let enough = reader.heads.len() + 8;
        while reader.heads.len() < enough {
            reader.read(scene, 5, LONG);
            assert!(!reader.last.is_empty(), "{:?}", reader.heads);
        }
        for mut writer in writers {
            writer.kill().unwrap();
            writer.wait().unwrap();
        }
        // A store on a server may still commit what a killed writer sent.
        reader.catch_up(scene, 5);
        // The feed also reports a write of this process, after those of the others.
        let appended = scene.append("all", turns(1));
        reader.drain(scene, 0);
        assert!(reader.heads["all"] >= appended.head_seq, "{:?}", reader.heads);
    }
    scene.assert_sound();
}
