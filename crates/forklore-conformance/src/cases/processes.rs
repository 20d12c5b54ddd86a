//! Cases in which several processes use one store. The first process starts the others, which run
//! the same case.

use forklore_core::Strategy;

use crate::events::{turns, user};
use crate::scene::{Scene, id};
use forklore_store::error::Error;
use forklore_store::port::Append;

const WRITERS: usize = 4;

fn start_all(scene: &Scene<'_>, number: u16) {
    let others: Vec<_> =
        (0..WRITERS).map(|writer| scene.start(number, &writer.to_string())).collect();
    others.into_iter().for_each(|other| scene.finish(other));
}

pub(super) fn appends_of_all_processes_are_there(scene: &Scene<'_>) {
    if let Some(writer) = scene.argument() {
        for number in 0..50 {
            scene.append("a", vec![user(&format!("{writer}:{number}"))]);
        }
        return;
    }
    scene.root("a", vec![]);
    start_all(scene, super::number("appends_of_all_processes_are_there"));
    let texts = scene.texts("a");
    assert_eq!(texts.len(), WRITERS * 50);
    for writer in 0..WRITERS {
        let mark = format!("{writer}:");
        let own: Vec<_> = texts.iter().filter(|text| text.starts_with(&mark)).cloned().collect();
        assert_eq!(own, (0..50).map(|number| format!("{mark}{number}")).collect::<Vec<_>>());
    }
    scene.assert_sound();
}

pub(super) fn a_process_that_was_too_late_tries_again(scene: &Scene<'_>) {
    if let Some(writer) = scene.argument() {
        let mut expect = scene.header("a").head_seq();
        for number in 0..25 {
            let append = scene.appending(vec![
                user(&format!("{writer}:{number}")).id(&format!("{writer}:{number}")),
            ]);
            loop {
                let append = Append { expect: Some(expect), ..append.clone() };
                match scene.store().append(&id("a"), append) {
                    Ok(appended) => break expect = appended.head_seq,
                    Err(Error::Conflict { head, .. }) => expect = head,
                    Err(error) => panic!("{error}"),
                }
            }
        }
        return;
    }
    scene.root("a", vec![]);
    start_all(scene, super::number("a_process_that_was_too_late_tries_again"));
    let mut texts = scene.texts("a");
    assert_eq!(texts.len(), WRITERS * 25);
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), WRITERS * 25);
}

pub(super) fn one_of_many_processes_makes_the_child(scene: &Scene<'_>) {
    if let Some(writer) = scene.argument() {
        for round in 0..20 {
            let child = format!("child-{round}");
            let new = scene.child_draft("a", &child, 2, Strategy::ShareV1, vec![user(writer)]);
            match scene.store().create(new) {
                Ok(_) => scene.append(&format!("won-{writer}"), vec![user(&child)]).head_seq,
                Err(Error::IdInUse(_)) => continue,
                Err(error) => panic!("{error}"),
            };
        }
        return;
    }
    scene.root("a", turns(2));
    for writer in 0..WRITERS {
        scene.root(&format!("won-{writer}"), vec![]);
    }
    start_all(scene, super::number("one_of_many_processes_makes_the_child"));
    let mut made = 0;
    for writer in 0..WRITERS {
        for child in scene.texts(&format!("won-{writer}")) {
            made += 1;
            assert_eq!(scene.texts(&child), ["session_fork", "q1", "a1", &writer.to_string()]);
        }
    }
    assert_eq!(made, 20);
    scene.assert_sound();
}

pub(super) fn processes_fork_while_another_writes(scene: &Scene<'_>) {
    match scene.argument() {
        Some("0") => {
            for _ in 0..60 {
                scene.append("a", turns(1));
            }
        }
        Some(writer) => {
            for round in 0..15 {
                let inheritable = scene.header("a").counts.inheritable;
                let child = format!("b-{writer}-{round}");
                scene.fork("a", &child, inheritable, turns(1));
                assert_eq!(scene.log(&child).len() as u64, inheritable + 3);
            }
        }
        None => {
            scene.root("a", turns(1));
            start_all(scene, super::number("processes_fork_while_another_writes"));
            assert_eq!(scene.log("a").len(), 122);
            scene.assert_sound();
        }
    }
}
