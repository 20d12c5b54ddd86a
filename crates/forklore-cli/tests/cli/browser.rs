//! Opens a page that the program wrote in a real browser: it is accessible in light and dark, narrow
//! and wide, it requests nothing, and hostile text stays text.

use std::ffi::OsString;
use std::path::Path;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// Texts that try to be more than text, one JSON string in each line.
const HOSTILE: &str = include_str!("browser/hostile.jsonl");

/// Creates a session with two branches. Each text is a message of the user, of the model, a call of
/// a tool and its result.
fn with_hostile_texts() -> Sandbox {
    let sandbox = Sandbox::with_default_store();
    let texts: Vec<Value> =
        HOSTILE.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    sandbox.ok(&["new", "--id", "plan-1"]);
    let lines = texts.iter().flat_map(|text| {
        let call =
            json!({"type": "tool_call", "id": "c", "name": text, "arguments": {"command": text}});
        let answer =
            json!([{"type": "reasoning", "text": text}, {"type": "text", "text": text}, call]);
        [
            json!({"type": "user_message", "data": {"content": text}}),
            json!({"type": "assistant_message", "data": {"content": answer}}),
            json!({"type": "tool_result", "data": {"call_id": "c", "name": text, "content": text}}),
        ]
    });
    let lines: String = lines.map(|line| format!("{line}\n")).collect();
    let ran = sandbox.append("plan-1", &lines);
    assert_eq!(ran.code, 0, "{ran:?}");
    let title = texts[0].as_str().unwrap();
    sandbox.ok(&["fork", "plan-1", "--id", "plan-2", "--label", "plan-b", "--title", title]);
    sandbox.ok(&["append", "plan-2", "--text", "In the other branch."]);
    sandbox
}

#[test]
fn an_exported_page_is_accessible_and_its_hostile_text_is_inert() {
    let sandbox = with_hostile_texts();
    let page = sandbox.path().join("page.html");
    sandbox.ok(&["export", "plan-2", "--to", "html", "-o", page.to_str().unwrap()]);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/browser");
    let variables = [("FORKLORE_PAGE", page), ("FORKLORE_HOSTILE", folder.join("hostile.jsonl"))];
    let printed = forklore_browser::passes(&folder.join("page.py"), &variables)
        .unwrap_or_else(|failed| panic!("{failed}"));
    assert!(printed.contains("20 passed"), "{printed}");
}

/// Runs the tests of a file against a server on these sessions. Returns what pytest printed.
#[cfg(feature = "server")]
fn served(sandbox: &Sandbox, file: &str, more: &[(&str, OsString)]) -> String {
    passes(&crate::serve::Serving::start(sandbox), sandbox, file, more)
}

/// Runs the tests of a file against this server.
#[cfg(feature = "server")]
fn passes(
    server: &crate::serve::Serving,
    sandbox: &Sandbox,
    file: &str,
    more: &[(&str, OsString)],
) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/browser");
    let mut variables = vec![
        ("FORKLORE_URL", server.url().into()),
        ("FORKLORE_TOKEN", server.token().into()),
        ("FORKLORE_HOSTILE", folder.join("hostile.jsonl").into_os_string()),
        ("FORKLORE_PROGRAM", env!("CARGO_BIN_EXE_forklore").into()),
        ("FORKLORE_HOME", sandbox.path().join("home").into_os_string()),
    ];
    variables.extend_from_slice(more);
    forklore_browser::passes(&folder.join(file), &variables)
        .unwrap_or_else(|failed| panic!("{failed}"))
}

#[cfg(feature = "server")]
#[test]
fn the_pages_of_a_server_are_accessible_and_their_hostile_text_is_inert() {
    let printed = served(&with_hostile_texts(), "served.py", &[]);
    assert!(printed.contains("30 passed"), "{printed}");
}

#[cfg(feature = "server")]
#[test]
fn the_pages_of_a_server_are_used_by_keyboard() {
    let sandbox = with_hostile_texts();
    sandbox.ok(&["new", "--id", "long", "--title", "A long session"]);
    let message =
        |number| json!({"type": "user_message", "data": {"content": format!("message {number}")}});
    let lines: String = (0..200).map(|number| format!("{}\n", message(number))).collect();
    assert_eq!(sandbox.append("long", &lines).code, 0);
    let printed = served(&sandbox, "keys.py", &[]);
    assert!(printed.contains("12 passed"), "{printed}");
}

#[cfg(feature = "server")]
#[test]
fn an_abandoned_branch_of_an_imported_session_goes_on_in_another_agent() {
    let sandbox = Sandbox::with_default_store();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(
        "../../testdata/claude/projects/-home-dev-work-space-a-proj-41/\
         fe1b1434-3b10-4980-950c-aef9618a9261.jsonl",
    );
    sandbox.ok(&["import", file.to_str().unwrap()]);
    let printed = served(&sandbox, "trial.py", &[]);
    assert!(printed.contains("3 passed"), "{printed}");
}

#[cfg(feature = "server")]
#[test]
fn two_browsers_and_a_terminal_see_each_other() {
    let printed = served(&with_hostile_texts(), "live.py", &[]);
    assert!(printed.contains("2 passed"), "{printed}");
    printed.lines().filter(|line| line.starts_with("delay")).for_each(|line| println!("{line}"));
}

/// The client of the demo, after each turn.
#[cfg(feature = "server")]
const RETRY: [&str; 3] = [
    "def send(request):\n    return client.send(request)\n",
    "def send(request):\n    for attempt in range(5):\n        try:\n            \
     return client.send(request)\n        except Busy:\n            sleep(2 ** attempt)\n    \
     raise GaveUp(request)\n",
    "def send(request):\n    return forever(client.send, request)\n",
];

/// Takes files back in the browser. Writes pictures of it into `docs/pictures` if
/// `FORKLORE_WRITE_PICTURES` is set.
#[cfg(feature = "server")]
#[test]
fn files_go_back_in_the_browser() {
    let sandbox = Sandbox::with_default_store();
    let folder = sandbox.path().join("site");
    std::fs::create_dir(&folder).unwrap();
    let workspace = folder.to_str().unwrap().to_owned();
    let title = "Retry failed requests";
    let words = ["--workspace", &workspace, "new", "--id", "work", "--title", title];
    assert_eq!(crate::sandbox::ran(sandbox.command(&words)).code, 0);
    let [first, second, third] = RETRY;
    std::fs::write(folder.join("retry.py"), first).unwrap();
    sandbox.ok(&["snapshot", "work"]);
    for (prompt, answer, text) in [
        ("Retry when the server is busy.", "It retries five times now, with a pause.", second),
        ("Retry forever instead.", "It retries until it succeeds.", third),
    ] {
        sandbox.ok(&["append", "work", "--text", prompt]);
        std::fs::write(folder.join("retry.py"), text).unwrap();
        if text == second {
            let notes = "# Retries\n\nFive attempts, with a pause that doubles.\n";
            std::fs::write(folder.join("notes.md"), notes).unwrap();
        }
        let data = json!({"content": [{"type": "text", "text": answer}]});
        let line = format!("{}\n", json!({"type": "assistant_message", "data": data}));
        assert_eq!(sandbox.append("work", &line).code, 0);
        sandbox.ok(&["snapshot", "work"]);
    }
    let server = crate::serve::Serving::with(&sandbox, &["--chat"]);
    let pictures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures");
    let is_wanted = std::env::var_os("FORKLORE_WRITE_PICTURES").is_some();
    let name = if is_wanted { "FORKLORE_PICTURES" } else { "FORKLORE_NO_PICTURES" };
    let folder = folder.canonicalize().unwrap().into_os_string();
    let more = [("FORKLORE_FOLDER", folder), (name, pictures.into_os_string())];
    let printed = passes(&server, &sandbox, "rewind.py", &more);
    assert!(printed.contains("10 passed"), "{printed}");
}

/// Runs the tests of large stores: with `FORKLORE_LARGE`, in the sizes and with the goals of
/// docs/benchmarks.md, otherwise small.
#[cfg(feature = "server")]
#[test]
fn large_stores_have_small_pages() {
    let is_large = std::env::var_os("FORKLORE_LARGE").is_some();
    let (sessions, turns, branches) =
        if is_large { (25_000, 200_000, 10_000) } else { (200, 2_000, 150) };
    let sandbox = Sandbox::with_default_store();
    let folder = sandbox.path().join("sessions");
    std::fs::create_dir(&folder).unwrap();
    for number in 0..sessions {
        std::fs::write(folder.join(format!("{number}.jsonl")), session_file(number)).unwrap();
    }
    sandbox.ok(&["import", folder.to_str().unwrap()]);
    sandbox.ok(&["new", "--id", "wide-0", "--title", "A wide family"]);
    sandbox.ok(&["append", "wide-0", "--text", "Which plan is best?"]);
    sandbox.ok(&["new", "--id", "long", "--title", "A long session"]);
    let turn = |number: usize| {
        let question = json!({"type": "user_message", "data": {"content": format!("Question {number}: why does it retry?")}});
        let text = "Because the server said **503**. See `src/client.rs`:\n\n```rust\nlet wait = base * 2;\n```\n";
        let answer = json!({"type": "assistant_message", "data": {"content": [{"type": "text", "text": text}]}});
        format!("{question}\n{answer}\n")
    };
    for first in (0..turns).step_by(5_000) {
        let lines: String = (first..turns.min(first + 5_000)).map(turn).collect();
        assert_eq!(sandbox.append("long", &lines).code, 0);
    }
    let printed = served(
        &sandbox,
        "large.py",
        &[
            ("FORKLORE_BRANCHES", branches.to_string().into()),
            (if is_large { "FORKLORE_GOALS" } else { "FORKLORE_NO_GOALS" }, "1".into()),
        ],
    );
    assert!(printed.contains("4 passed"), "{printed}");
    let is_figure = |line: &&str| line.starts_with("page ") || line.starts_with("fork of ");
    printed.lines().filter(is_figure).for_each(|line| println!("{line}"));
}

/// Returns a session file of Pi with one turn.
fn session_file(number: usize) -> String {
    let id = format!("01a1fff4-d592-70cf-b9b2-{number:012x}");
    let time = format!(
        "2026-11-{:02}T{:02}:{:02}:00.000Z",
        1 + number % 25,
        number / 60 % 24,
        number % 60
    );
    let folder = format!("/work/project-{}", number % 50);
    let message = |id: &str, parent: Value, message: Value| json!({"type": "message", "id": id, "parentId": parent, "timestamp": time, "message": message});
    let question = format!("Task {number}: make the client of service {} retry", number % 97);
    let answer = json!([{"type": "text", "text": "It retries now, at most five times."}]);
    let lines = [
        json!({"type": "session", "version": 3, "id": id, "timestamp": time, "cwd": folder}),
        message("a1", Value::Null, json!({"role": "user", "content": question})),
        message("a2", json!("a1"), json!({"role": "assistant", "content": answer, "model": "m"})),
    ];
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Writes pictures of the pages into `docs/pictures` if `FORKLORE_WRITE_PICTURES` is set.
#[cfg(feature = "server")]
#[test]
fn pictures_of_the_pages_are_written_on_request() {
    const MAIN: &str = "01a1fff4-d592-70cf-b9b1-000000000001";
    let sandbox = Sandbox::with_default_store();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let demo = folder.join("tests/cli/browser/demo");
    sandbox.ok(&["import", demo.to_str().unwrap()]);
    for (parent, at, label, text) in [
        (MAIN, "turn:2", "token-bucket", "Try a token bucket: at most 20 retries per minute."),
        ("token-bucket", "end", "shared-bucket", "Share the bucket between all clients."),
        (MAIN, "turn:1", "config-only", "Leave the client alone. Let the proxy retry."),
        (MAIN, "turn:2", "fixed-wait", "Wait one second each time, without jitter."),
        ("config-only", "end", "envoy", "Which of these settings does Envoy have?"),
    ] {
        sandbox.ok(&["fork", parent, "--at", at, "--label", label, "--id", label]);
        sandbox.ok(&["append", label, "--text", text]);
    }
    let pictures = folder.join("../../docs/pictures").into_os_string();
    let is_wanted = std::env::var_os("FORKLORE_WRITE_PICTURES").is_some();
    let name = if is_wanted { "FORKLORE_PICTURES" } else { "FORKLORE_NO_PICTURES" };
    let printed = served(&sandbox, "pictures.py", &[(name, pictures)]);
    assert!(printed.contains("12 passed"), "{printed}");
}
