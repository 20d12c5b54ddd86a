//! Cases: the store counts open calls, and a fork inherits the number of calls that are open at its
//! cut.

use forklore_core::{CallStep, OpenCall};

use crate::events::{Draft, asks, assistant, injected, result, usage, user};
use crate::scene::Scene;

fn open(scene: &Scene<'_>, session: &str) -> Vec<u64> {
    scene.log(session).iter().map(|stored| stored.counts.open).collect()
}

pub(super) fn open_calls_are_counted(scene: &Scene<'_>) {
    scene.root(
        "a",
        vec![user("q"), asks(&[("c1", "ls"), ("c2", "cat")]), result("c2", "x"), result("c1", "y")],
    );
    assert_eq!(open(scene, "a"), [0, 2, 1, 0]);
    let call = Draft::new("tool_call", r#"{"id":"c3","name":"rm"}"#);
    scene.append("a", vec![call]);
    scene.append("a", vec![usage(1, 1), result("nobody asked", "z")]);
    assert_eq!(open(scene, "a"), [0, 2, 1, 0, 1, 1, 1]);
    assert_eq!(scene.header("a").counts.open, 1);
}

pub(super) fn a_real_user_message_gives_open_calls_up(scene: &Scene<'_>) {
    scene.root(
        "a",
        vec![user("q"), asks(&[("c1", "ls")]), injected("psst"), assistant("hm"), user("stop")],
    );
    assert_eq!(open(scene, "a"), [0, 1, 1, 1, 0]);
}

pub(super) fn a_call_made_twice_is_open_once(scene: &Scene<'_>) {
    scene.root(
        "a",
        vec![asks(&[("c1", "ls")]), asks(&[("c1", "ls"), ("c2", "ls")]), result("c1", "x")],
    );
    assert_eq!(open(scene, "a"), [1, 2, 1]);
}

pub(super) fn calls_and_answers_come_back(scene: &Scene<'_>) {
    scene.root("a", vec![asks(&[("c1", "ls"), ("ç \"2\"", "cät")]), result("c1", "x")]);
    scene.fork("a", "b", 2, vec![]);
    let call = |id: &str, name: &str| CallStep::Open(OpenCall { id: id.into(), name: name.into() });
    let steps: Vec<_> =
        scene.log("b").into_iter().map(|stored| stored.event.effect.calls).collect();
    let answer = CallStep::Close("c1".into());
    assert_eq!(steps, [vec![], vec![call("c1", "ls"), call("ç \"2\"", "cät")], vec![answer]]);
}

pub(super) fn calls_left_open_by_the_cut_are_open_in_the_child(scene: &Scene<'_>) {
    scene.root(
        "a",
        vec![user("q"), asks(&[("c1", "ls"), ("c2", "cat")]), result("c1", "x"), result("c2", "y")],
    );
    let header = scene.fork("a", "b", 3, vec![]);
    assert_eq!((header.inherited.open, header.counts.open), (1, 1));
    scene.append("b", vec![result("c2", "never came"), asks(&[("c2", "again")])]);
    assert_eq!(open(scene, "b"), [0, 0, 2, 1, 0, 1]);
    scene.copy("b", "c", 2, vec![result("c1", "x")]);
    assert_eq!(open(scene, "c"), [0, 0, 2, 1]);
}

pub(super) fn a_late_result_in_the_parent_never_reaches_the_child(scene: &Scene<'_>) {
    scene.root("a", vec![user("q"), asks(&[("c1", "ls")])]);
    scene.fork("a", "b", 2, vec![]);
    scene.append("a", vec![result("c1", "late")]);
    scene.append("b", vec![assistant("without it")]);
    assert_eq!(open(scene, "b"), [0, 0, 1, 1]);
    assert_eq!(open(scene, "a"), [0, 1, 0]);
}

pub(super) fn open_calls_go_on_through_a_fork_of_a_fork(scene: &Scene<'_>) {
    scene.root("a", vec![user("q"), asks(&[("c1", "ls")])]);
    scene.fork("a", "b", 2, vec![asks(&[("c2", "cat")])]);
    scene.fork("b", "c", 3, vec![asks(&[("c3", "rm")])]);
    scene.append("c", vec![result("c1", "x"), result("c3", "z")]);
    assert_eq!(open(scene, "c"), [0, 0, 1, 2, 3, 2, 1]);
    scene.append("c", vec![user("enough")]);
    assert_eq!(scene.header("c").counts.open, 0);
}
