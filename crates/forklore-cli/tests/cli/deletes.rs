//! Tests that deleting several sessions is atomic.

use std::process::{Child, Stdio};

use forklore::Engine;
use forklore::api::{Batch, Create, LogRange, NewEvent};
use forklore::core::workspace::Workspace;
use forklore::core::{EventType, SessionId};
use forklore::engine::Fork;

use crate::sandbox::{Ran, Sandbox, WORKSPACE, ran};

/// Creates a store of each kind with a family: `root` has the children `a`, `b` and `c`, and `a`
/// has the child `aa`.
fn stores() -> Vec<(Sandbox, String)> {
    let mut kinds = vec!["sqlite:{}/store.db", "files:{}/store"];
    if cfg!(feature = "graph") {
        kinds.push("graph:{}/store");
    }
    let made = kinds.into_iter().map(|kind| {
        let sandbox = Sandbox::new();
        let url = kind.replace("{}", &sandbox.path().display().to_string());
        let run = |words: &[&str]| assert_eq!(run(&sandbox, &url, words).code, 0, "{words:?}");
        run(&["new", "--id", "root"]);
        run(&["append", "root", "--text", "hello"]);
        for child in ["a", "b", "c"] {
            run(&["fork", "root", "--id", child]);
        }
        run(&["fork", "a", "--id", "aa"]);
        (sandbox, url)
    });
    made.collect()
}

fn run(sandbox: &Sandbox, url: &str, words: &[&str]) -> Ran {
    let words = [&["--workspace", WORKSPACE, "--store", url], words].concat();
    ran(sandbox.command(&words))
}

#[test]
fn a_cascade_over_a_running_session_is_busy_and_deletes_nothing() {
    for (sandbox, url) in stores() {
        let listed = || run(&sandbox, &url, &["--json", "list"]).out.matches("\"id\"").count();
        let before = listed();
        for running in ["root", "aa"] {
            let engine = forklore::blocking::open(&url).unwrap();
            let session = running.parse().unwrap();
            engine.take_lease(&session, "a turn").unwrap();
            for words in [
                &["delete", "root", "--cascade", "--dry-run"][..],
                &["delete", "root", "--cascade"],
            ] {
                let refused = run(&sandbox, &url, words);
                assert_eq!(refused.code, 4, "{url} {words:?}: {refused:?}");
                assert!(refused.err.contains(running), "{refused:?}");
                assert_eq!(listed(), before, "{url} {words:?}");
            }
            engine.release(&session, "a turn").unwrap();
        }
        assert_eq!(run(&sandbox, &url, &["delete", "root", "--cascade"]).code, 0);
        assert_eq!(listed(), 0, "{url}");
    }
}

/// How many processes that delete a family are killed.
const KILLS: u64 = 8;

fn id(text: &str) -> SessionId {
    text.parse().unwrap()
}

fn fork(engine: &Engine, parent: &str, child: &str) {
    engine.fork(&Fork { id: Some(id(child)), ..Fork::of(id(parent)) }).unwrap();
}

/// Creates a family: a root, five branches with a branch each, and a detached branch.
fn family(engine: &Engine, root: &str) {
    let create = Create::in_workspace(Workspace::new(WORKSPACE));
    engine.create(&Create { id: Some(id(root)), ..create }).unwrap();
    let hello = NewEvent::text(EventType::USER_MESSAGE, "hello").unwrap();
    engine.append(&id(root), &Batch::from(vec![hello])).unwrap();
    for number in 0..5 {
        let branch = format!("{root}-{number}");
        fork(engine, root, &branch);
        fork(engine, &branch, &format!("{branch}-below"));
    }
    let survivor = format!("{root}-kept");
    fork(engine, root, &survivor);
    engine.detach(&id(&survivor)).unwrap();
}

/// Returns the ids of a family that are not deleted.
fn living(engine: &Engine, root: &str) -> Vec<String> {
    let all = engine.list(&Default::default()).unwrap().sessions;
    let all = all.into_iter().map(|header| header.id.to_string());
    let mut living: Vec<_> = all.filter(|id| id.starts_with(root)).collect();
    living.sort_unstable();
    living
}

fn log(engine: &Engine, session: &str) -> String {
    let mut lines = Vec::new();
    engine.log(&id(session), LogRange::default(), &mut lines).unwrap();
    String::from_utf8(lines).unwrap()
}

/// Returns how many bytes a process has written until now.
fn written(process: &Child) -> u64 {
    let counts = std::fs::read_to_string(format!("/proc/{}/io", process.id())).unwrap_or_default();
    let written = counts.lines().find_map(|line| line.strip_prefix("wchar: "));
    written.map_or(0, |bytes| bytes.parse().unwrap())
}

/// Checks whether a process has ended. Its counts can be read until it is waited for.
fn has_ended(process: &Child) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.id())).unwrap();
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

/// Starts the deletion of a family, and kills the process as soon as it has written this many
/// bytes. Returns how many bytes it had written.
fn killed(sandbox: &Sandbox, url: &str, root: &str, bytes: u64) -> u64 {
    let words = ["--store", url, "--workspace", WORKSPACE, "delete", root, "--cascade", "--erase"];
    let mut command = sandbox.command(&words);
    let mut process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut before = 0;
    while before < bytes {
        let is_last = has_ended(&process);
        before = before.max(written(&process));
        if is_last {
            break;
        }
        std::thread::yield_now();
    }
    process.kill().unwrap();
    process.wait().unwrap();
    before
}

#[test]
fn kill_a_cascade_at_any_point_and_repeat_it() {
    for (sandbox, url) in stores() {
        let names: Vec<_> = (0..=KILLS).map(|number| format!("family-{number:02}")).collect();
        let engine = forklore::blocking::open(&url).unwrap();
        names.iter().for_each(|root| family(&engine, root));
        let survivor = |root: &str| log(&engine, &format!("{root}-kept"));
        let before: Vec<_> = names.iter().map(|root| survivor(root)).collect();
        let whole = killed(&sandbox, &url, &names[0], u64::MAX);
        assert!(whole > 0, "{url}");
        for (number, root) in names.iter().enumerate().skip(1) {
            killed(&sandbox, &url, root, whole * number as u64 / KILLS);
            let cell = format!("{url}, kill {number}");
            let survivors = vec![format!("{root}-kept")];
            let now = living(&engine, root);
            assert!(now == survivors || now.len() == 12, "{cell}: {now:?}");
            let again = run(&sandbox, &url, &["delete", root, "--cascade"]);
            let expected = if now == survivors { 2 } else { 0 };
            assert_eq!(again.code, expected, "{cell}: {again:?}");
            assert_eq!(living(&engine, root), survivors, "{cell}");
        }
        let after: Vec<_> = names.iter().map(|root| survivor(root)).collect();
        assert_eq!(after, before, "{url}");
        assert_eq!(engine.verify(None).unwrap().problems, [], "{url}");
    }
}
