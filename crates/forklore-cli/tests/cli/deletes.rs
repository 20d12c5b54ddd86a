//! Tests that deleting several sessions is atomic.

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
