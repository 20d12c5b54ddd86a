//! Cases: attachments persist when the program ends, and several processes share them.

use std::io::{self, BufRead, BufReader, Read, Write};

use super::attachments::{bytes, listed, named, put, read};
use crate::scene::Scene;
use forklore_store::attachments::Swept;

const WRITERS: usize = 4;
const LONG: usize = 1 << 20;

pub(super) fn every_attachment_is_there_again(scene: &mut Scene<'_>) {
    let given: Vec<_> = (0..5).map(|seed| bytes(seed, 1_000 * seed as usize)).collect();
    for bytes in &given {
        drop(put(scene, bytes));
    }
    let before = scene.attachments().list().unwrap();
    scene.reopen();
    assert_eq!(scene.attachments().list().unwrap(), before);
    for bytes in &given {
        assert_eq!(read(scene, &named(bytes)).as_ref(), Some(bytes));
        assert!(!put(scene, bytes).new);
    }
}

pub(super) fn processes_that_put_the_same_bytes_store_them_once(scene: &Scene<'_>) {
    if scene.argument().is_some() {
        for seed in 0..10 {
            drop(put(scene, &bytes(seed, 100_000)));
        }
        return;
    }
    let number = super::number("processes_that_put_the_same_bytes_store_them_once");
    let others: Vec<_> = (0..WRITERS).map(|_| scene.start(number, "put")).collect();
    others.into_iter().for_each(|other| scene.finish(other));
    let mut given: Vec<_> = (0..10).map(|seed| (named(&bytes(seed, 100_000)), 100_000)).collect();
    given.sort_unstable();
    assert_eq!(listed(scene), given);
    for seed in 0..10 {
        let given = bytes(seed, 100_000);
        assert!(read(scene, &named(&given)).unwrap() == given, "other bytes came back");
    }
}

/// A reader that returns all bytes of the wrapped reader. Instead of ending, it prints `stuck` on
/// standard output and blocks forever.
struct Stuck<R>(R);

impl<R: Read> Read for Stuck<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.0.read(into)? {
            0 => {
                say("stuck");
                loop {
                    std::thread::park();
                }
            }
            read => Ok(read),
        }
    }
}

fn say(word: &str) {
    let mut out = io::stdout().lock();
    writeln!(out, "\n{word}").and_then(|()| out.flush()).unwrap();
}

/// Starts another process that runs the conformance test `case`. Waits until that process prints
/// `word`, runs `then`, and kills the process.
fn with_other(scene: &Scene<'_>, case: &str, word: &str, then: impl FnOnce()) {
    let mut other = scene.start(super::number(case), word);
    let lines = BufReader::new(other.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.into_iter().any(|line| line == word), "the other process ended");
    then();
    other.kill().unwrap();
    other.wait().unwrap();
}

pub(super) fn a_put_that_is_killed_leaves_nothing_under_a_name(scene: &Scene<'_>) {
    let given = bytes(9, LONG);
    if scene.argument().is_some() {
        let pin = scene.attachments().put(&mut Stuck(&given[..]), u64::MAX);
        panic!("it ended: {pin:?}");
    }
    let case = "a_put_that_is_killed_leaves_nothing_under_a_name";
    with_other(scene, case, "stuck", || {
        assert_eq!((listed(scene), read(scene, &named(&given))), (vec![], None));
        // A sweep does not remove an attachment that another process is still writing.
        assert_eq!(scene.attachments().sweep(&[]).unwrap(), Swept::default());
    });
    assert_eq!((listed(scene), read(scene, &named(&given))), (vec![], None));
    assert_eq!(scene.attachments().sweep(&[]).unwrap().attachments, 0);
    assert_eq!(scene.attachments().sweep(&[]).unwrap(), Swept::default());
    assert!(put(scene, &given).new);
    assert!(read(scene, &named(&given)).unwrap() == given, "other bytes came back");
}

pub(super) fn what_another_process_holds_is_not_swept(scene: &Scene<'_>) {
    if scene.argument().is_some() {
        let _pin = put(scene, b"held elsewhere");
        say("held");
        loop {
            std::thread::park();
        }
    }
    with_other(scene, "what_another_process_holds_is_not_swept", "held", || {
        let list = scene.attachments().list().unwrap();
        assert_eq!(scene.attachments().sweep(&list).unwrap(), Swept::default());
        assert_eq!(read(scene, &named(b"held elsewhere")).unwrap(), b"held elsewhere");
    });
    let list = scene.attachments().list().unwrap();
    assert_eq!(scene.attachments().sweep(&list).unwrap().attachments, 1);
}
