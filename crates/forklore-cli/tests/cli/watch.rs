//! Tests of `import --watch` with real processes and real folders.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::answers;
use crate::sandbox::{Sandbox, WORKSPACE, ran, snapshot};

/// A running `import --watch --json`, and its output lines.
struct Watch {
    child: Child,
    lines: Receiver<String>,
}

impl Watch {
    fn start(sandbox: &Sandbox, words: &[&str]) -> Self {
        let words = [&["--workspace", WORKSPACE, "--json", "import", "--watch"], words].concat();
        Self::of(sandbox.command(&words))
    }

    fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (text, lines) = channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                answers::are_of_the_contract(&["import"], &line);
                if text.send(line).is_err() {
                    return;
                }
            }
        });
        let watch = Self { child, lines };
        watch.next("watching");
        watch
    }

    /// Returns the next output line as JSON. Its field `event` must be `event`.
    fn next(&self, event: &str) -> Value {
        serde_json::from_str(&self.line(event)).unwrap()
    }

    /// Returns the text of the next output line. Its field `event` must be `event`.
    fn line(&self, event: &str) -> String {
        let line = self.lines.recv().unwrap();
        assert!(line.starts_with(&format!("{{\"event\":\"{event}\"")), "{line}");
        line
    }

    fn signal(self, signal: &str) -> Option<i32> {
        self.end(signal).0
    }

    /// Sends a signal to the watch. Returns the exit code and the last output line.
    fn end(mut self, signal: &str) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        let code = self.child.wait().unwrap().code();
        (code, self.line("stopped"))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the record of the message with this number in a session file of Pi.
fn message(number: u32) -> String {
    let parent = match number {
        0 => "null".to_owned(),
        number => format!("\"m{:07}\"", number - 1),
    };
    format!(
        "{{\"type\":\"message\",\"id\":\"m{number:07}\",\"parentId\":{parent},\
         \"timestamp\":\"2026-03-01T10:00:00.000Z\",\
         \"message\":{{\"role\":\"user\",\"content\":\"number {number}\"}}}}\n"
    )
}

/// Returns the content of a session file of Pi with this many messages.
fn session(id: &str, messages: u32) -> String {
    let header = format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\
         \"timestamp\":\"2026-03-01T10:00:00.000Z\",\"cwd\":\"/work\"}}\n"
    );
    (0..messages).map(message).fold(header, |text, line| text + &line)
}

fn append(file: &Path, text: &str) {
    OpenOptions::new().append(true).open(file).unwrap().write_all(text.as_bytes()).unwrap();
}

fn folder(sandbox: &Sandbox) -> PathBuf {
    let folder = sandbox.path().join("sessions");
    fs::create_dir(&folder).unwrap();
    folder
}

fn events(sandbox: &Sandbox, session: &str) -> u64 {
    sandbox.json(&["show", session])["session"]["own_events"].as_u64().unwrap()
}

/// Returns the number of stored sessions of all folders.
fn sessions(sandbox: &Sandbox) -> usize {
    let answer = ran(sandbox.command(&["--json", "--all", "list"])).out;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    answer["sessions"].as_array().unwrap().len()
}

#[test]
fn a_file_without_events_grows_and_is_not_new_again() {
    let sandbox = Sandbox::new();
    let file = folder(&sandbox).join("one.jsonl");
    fs::write(&file, session("one", 3)).unwrap();
    let watch = Watch::start(&sandbox, &["sessions"]);
    let change = || {
        let line = watch.next("imported");
        (line["change"].clone(), line["events"].clone())
    };
    assert_eq!(change(), (json!("new"), json!(3)));
    // The new revision repeats the beginning of the old one, so it has no events of its own.
    fs::rename(sandbox.file("shorter.jsonl", &session("one", 1)), &file).unwrap();
    assert_eq!(change(), (json!("rewritten"), json!(0)));
    append(&file, &message(1).replace("number 1", "another"));
    assert_eq!(change(), (json!("grown"), json!(1)));
}

#[test]
fn what_an_agent_writes_deletes_and_rewrites_is_stored() {
    let sandbox = Sandbox::new();
    let folder = folder(&sandbox);
    let file = folder.join("one.jsonl");
    fs::write(&file, session("one", 2)).unwrap();
    let watch = Watch::start(&sandbox, &["sessions"]);
    let first = watch.next("imported");
    assert_eq!((&first["change"], &first["events"]), (&json!("new"), &json!(2)));

    append(&file, &message(2));
    let grown = watch.next("imported");
    assert_eq!((&grown["change"], &grown["events"]), (&json!("grown"), &json!(1)));
    assert_eq!(grown["sessions"], json!(["one"]));

    // A file in a new folder is imported, even if it is written right after the folder is created.
    let deep = folder.join("later/deeper");
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("two.jsonl"), session("two", 3)).unwrap();
    let new = watch.next("imported");
    assert_eq!((&new["change"], &new["sessions"]), (&json!("new"), &json!(["two"])));

    // Rewrite the file in place, as agents do. This creates a new revision.
    fs::write(&file, session("one", 1).replace("number 0", "another")).unwrap();
    let rewritten = watch.next("imported");
    assert_eq!(rewritten["change"], "rewritten");
    assert_ne!(rewritten["sessions"], json!(["one"]));

    fs::remove_file(&file).unwrap();
    let gone = watch.next("gone");
    assert_eq!(gone["kept"].as_array().unwrap().len(), 2);
    assert_eq!(events(&sandbox, "one"), 3);
    assert_eq!(sandbox.ok(&["restore", "one"]), session("one", 3));
    assert_eq!(watch.signal("-TERM"), Some(0));
}

#[test]
fn a_watch_goes_on_where_the_last_one_stopped() {
    let sandbox = Sandbox::new();
    let file = folder(&sandbox).join("one.jsonl");
    fs::write(&file, session("one", 2)).unwrap();
    let watch = Watch::start(&sandbox, &["sessions"]);
    watch.next("imported");
    assert_eq!(watch.signal("-INT"), Some(130));

    append(&file, &(message(2) + &message(3)));
    let watch = Watch::start(&sandbox, &["sessions"]);
    assert_eq!(watch.next("imported")["events"], 2);
    assert_eq!(watch.signal("-INT"), Some(130));
    assert_eq!(sandbox.ok(&["restore", "one"]), session("one", 4));
}

/// Returns the size of the store including its WAL, in bytes.
fn written(sandbox: &Sandbox) -> u64 {
    let wal = sandbox.path().join("store.db-wal");
    let size = |path: &Path| fs::metadata(path).map_or(0, |about| about.len());
    size(&sandbox.store()) + size(&wal)
}

#[test]
fn kill_in_the_middle_of_a_file_loses_nothing_and_repeats_nothing() {
    const MESSAGES: u32 = 150_000;
    let sandbox = Sandbox::new();
    let file = folder(&sandbox).join("one.jsonl");
    let text = session("one", MESSAGES);
    fs::write(&file, &text).unwrap();
    // Kill the watch after the first transactions of the import, and long before the last.
    for most in [2 << 20, 8 << 20, 14 << 20] {
        let mut watch = Watch::start(&sandbox, &["sessions"]);
        while written(&sandbox) < most {
            std::thread::sleep(Duration::from_millis(1));
        }
        watch.child.kill().unwrap();
        watch.child.wait().unwrap();
        assert_eq!(sandbox.json(&["verify"])["problems"], json!([]));
    }
    let begun = events(&sandbox, "one");
    assert!((1..u64::from(MESSAGES)).contains(&begun), "{begun}");
    assert!(text.starts_with(&sandbox.ok(&["restore", "one"])));

    let watch = Watch::start(&sandbox, &["sessions"]);
    let left = watch.next("imported");
    assert_eq!(left["events"], json!(u64::from(MESSAGES) - begun));
    assert_eq!(watch.signal("-TERM"), Some(0));
    assert_eq!((events(&sandbox, "one"), sessions(&sandbox)), (u64::from(MESSAGES), 1));
    assert!(sandbox.ok(&["restore", "one"]) == text, "the file comes back as it was");
}

#[test]
fn what_was_deleted_here_is_not_imported_again() {
    let sandbox = Sandbox::new();
    let folder = folder(&sandbox);
    let file = folder.join("one.jsonl");
    fs::write(&file, session("one", 2)).unwrap();
    sandbox.ok(&["import", "sessions"]);
    sandbox.ok(&["delete", "one"]);

    let watch = Watch::start(&sandbox, &["sessions"]);
    assert_eq!(watch.next("problem")["kind"], "deleted");
    append(&file, &message(2));
    fs::write(folder.join("two.jsonl"), session("two", 1)).unwrap();
    assert_eq!(watch.next("imported")["sessions"], json!(["two"]), "and it is told once");
    assert_eq!(watch.signal("-TERM"), Some(0));
    let (code, error) = sandbox.error(&["show", "one"]);
    assert_eq!((code, &error["kind"]), (2, &json!("not_found")));
    assert_eq!(sessions(&sandbox), 1);
}

#[test]
fn one_bad_file_stops_nothing() {
    let sandbox = Sandbox::new();
    let folder = folder(&sandbox);
    let watch = Watch::start(&sandbox, &["sessions"]);
    fs::write(folder.join("bad.jsonl"), session("bad", 1) + "{\"no\n").unwrap();
    assert_eq!(watch.next("imported")["sessions"], json!(["bad"]));
    let problem = watch.next("problem");
    assert_eq!((&problem["kind"], &problem["line"]), (&json!("damage"), &json!(3)));
    // The watch reads neither files that belong to no agent nor links that lead out of the folder.
    let outside = sandbox.file("outside.jsonl", &session("outside", 1));
    std::os::unix::fs::symlink(&outside, folder.join("link.jsonl")).unwrap();
    fs::write(folder.join("notes.jsonl"), "{\"a\":1}\n").unwrap();
    fs::write(folder.join("notes.txt"), session("text", 1)).unwrap();
    fs::create_dir(folder.join("dir.jsonl")).unwrap();
    let pipe = Command::new("mkfifo").arg(folder.join("pipe.jsonl")).status().unwrap();
    assert!(pipe.success());
    fs::write(folder.join("good.jsonl"), session("good", 1)).unwrap();
    assert_eq!(watch.next("imported")["sessions"], json!(["good"]));
    assert_eq!(watch.signal("-TERM"), Some(0));
}

#[test]
fn a_line_waits_until_it_is_whole() {
    let sandbox = Sandbox::new();
    let file = folder(&sandbox).join("one.jsonl");
    fs::write(&file, session("one", 1)).unwrap();
    let watch = Watch::start(&sandbox, &["sessions"]);
    watch.next("imported");
    let line = message(1);
    let (begun, rest) = line.split_at(40);
    append(&file, begun);
    std::thread::sleep(Duration::from_millis(700));
    append(&file, rest);
    assert_eq!(watch.next("imported")["events"], 1);
    assert_eq!(watch.signal("-TERM"), Some(0));
    assert_eq!(sandbox.ok(&["restore", "one"]), session("one", 2));
}

#[test]
fn two_watches_of_one_store_do_not_hurt_each_other() {
    let sandbox = Sandbox::new();
    let file = folder(&sandbox).join("one.jsonl");
    fs::write(&file, session("one", 1)).unwrap();
    let watches = [Watch::start(&sandbox, &["sessions"]), Watch::start(&sandbox, &["sessions"])];
    for number in 1..40 {
        append(&file, &message(number));
        std::thread::sleep(Duration::from_millis(25));
    }
    let whole = session("one", 40);
    while sandbox.run(&["restore", "one"]).out != whole {
        std::thread::sleep(Duration::from_millis(100));
    }
    let mut reported = 0;
    for watch in watches {
        let mut command = Command::new("kill");
        assert!(command.args(["-TERM", &watch.child.id().to_string()]).status().unwrap().success());
        while let Ok(line) = watch.lines.recv() {
            let line: Value = serde_json::from_str(&line).unwrap();
            match line["event"].as_str() {
                Some("imported") => reported += line["events"].as_u64().unwrap(),
                Some("stopped") => break,
                _ => panic!("{line}"),
            }
        }
    }
    assert_eq!(reported, 40, "each event was imported by one of them");
    assert_eq!(sessions(&sandbox), 1);
}

#[test]
fn without_a_path_the_folders_of_agents_are_followed_also_those_that_come_later() {
    let sandbox = Sandbox::new();
    let watch = Watch::start(&sandbox, &[]);
    let folder = sandbox.path().join("home/.pi/agent/sessions/--work--");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("one.jsonl"), session("one", 1)).unwrap();
    assert_eq!(watch.next("imported")["sessions"], json!(["one"]));
    append(&folder.join("one.jsonl"), &message(1));
    assert_eq!(watch.next("imported")["change"], "grown");
    assert_eq!(watch.signal("-TERM"), Some(0));
}

#[test]
fn sidecar_files_are_stored_as_they_come() {
    let sandbox = Sandbox::new();
    let folder = folder(&sandbox);
    let record = "{\"type\":\"user\",\"uuid\":\"u1\",\"parentUuid\":null,\"sessionId\":\"s\",\
                  \"timestamp\":\"2026-01-01T00:00:00Z\",\
                  \"message\":{\"role\":\"user\",\"content\":\"hello\"}}\n";
    fs::write(folder.join("s.jsonl"), record).unwrap();
    fs::create_dir_all(folder.join("s/tool-results")).unwrap();
    let watch = Watch::start(&sandbox, &["sessions"]);
    assert_eq!(watch.next("imported")["sessions"], json!(["s"]));
    let result = folder.join("s/tool-results/toolu_1.txt");
    fs::write(&result, "found").unwrap();
    let stored = watch.next("kept");
    let shape = (&stored["dialect"], &stored["session"], &stored["bytes"]);
    assert_eq!(shape, (&json!("claude"), &json!("s"), &json!(5)));
    append(&result, " more");
    assert_eq!(watch.next("kept")["bytes"], json!(5));
    assert_eq!(watch.signal("-INT"), Some(130));
    let name = "s/tool-results/toolu_1.txt";
    assert_eq!(sandbox.ok(&["restore", "s", "--file", name]), "found more");
}

#[test]
fn each_change_is_a_line() {
    let sandbox = Sandbox::new();
    let folder = folder(&sandbox);
    let file = folder.join("one.jsonl");
    let watch = Watch::start(&sandbox, &["sessions"]);
    let mut lines = Vec::new();
    fs::write(&file, session("one", 1) + "{\"no\n").unwrap();
    lines.extend([watch.line("imported"), watch.line("problem")]);
    append(&file, &message(1));
    lines.push(watch.line("imported"));
    fs::remove_file(&file).unwrap();
    lines.push(watch.line("gone"));
    let record = "{\"type\":\"user\",\"uuid\":\"u1\",\"parentUuid\":null,\"sessionId\":\"s\",\
                  \"timestamp\":\"2026-01-01T00:00:00Z\",\
                  \"message\":{\"role\":\"user\",\"content\":\"hello\"}}\n";
    fs::write(folder.join("s.jsonl"), record).unwrap();
    lines.push(watch.line("imported"));
    fs::create_dir_all(folder.join("s/tool-results")).unwrap();
    fs::write(folder.join("s/tool-results/toolu_1.txt"), "found").unwrap();
    lines.push(watch.line("kept"));
    lines.push(watch.end("-INT").1);
    snapshot!(
        lines.join("\n").replace(&folder.canonicalize().unwrap().display().to_string(), "[folder]")
    );
}

/// Codex 0.169.0 itself made the file in `codex/migrated` of that in `codex/home`.
#[test]
fn a_file_that_codex_migrates_is_followed_as_the_same_conversation() {
    let sandbox = Sandbox::new();
    let folder = folder(&sandbox);
    let name = "rollout-2026-07-25T17-26-42-019f9a4a-9064-76f6-9a14-49f44c2dc40f.jsonl";
    let of = |home: &str| {
        let path = format!("../../testdata/codex/{home}/sessions/2026/07/25/{name}");
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
    };
    let file = folder.join(name);
    fs::write(&file, of("home")).unwrap();
    let watch = Watch::start(&sandbox, &["sessions"]);
    let first = watch.next("imported");
    assert_eq!((&first["change"], &first["dialect"]), (&json!("new"), &json!("codex")));
    // A turn was rolled back in the file, so Codex would resume its second session.
    let [_, before] = &first["sessions"].as_array().unwrap()[..] else { panic!("{first}") };
    // Its own first event moves the positions in the log.
    let replay = |session: &str| {
        let lines = sandbox.ok(&["--json", "replay", session]);
        let message = |line: &str| {
            let mut message: Value = serde_json::from_str(line).unwrap();
            message.as_object_mut().unwrap().remove("seq");
            message
        };
        lines.lines().map(message).collect::<Vec<_>>()
    };

    // As Codex does, write the file anew and move it into the place of the old one.
    let new = folder.join("migrated.tmp");
    fs::write(&new, of("migrated")).unwrap();
    fs::rename(&new, &file).unwrap();
    let migrated = watch.next("imported");
    assert_eq!(migrated["change"], "rewritten");
    let session = migrated["sessions"][0].as_str().unwrap();
    assert_eq!(sandbox.ok(&["restore", session]), of("migrated"));
    let messages = replay(session);
    assert_eq!((messages.len(), &messages), (20, &replay(before.as_str().unwrap())));

    // What Codex appends afterwards is a part of it.
    let turn = concat!(
        r#"{"timestamp":"2026-07-26T10:00:00.000Z","ordinal":9000,"type":"response_item","payload":"#,
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"go on"}]}}"#,
        "\n"
    );
    append(&file, turn);
    let grown = watch.next("imported");
    assert_eq!((&grown["change"], &grown["events"]), (&json!("grown"), &json!(1)));
    assert_eq!(sandbox.ok(&["restore", session]), of("migrated") + turn);
    assert_eq!(watch.signal("-TERM"), Some(0));
}

/// An agent without hooks: the files are recorded when it has written.
#[test]
fn the_files_of_a_watched_session_are_recorded() {
    let sandbox = Sandbox::new();
    let project = sandbox.path().join("project");
    fs::create_dir(&project).unwrap();
    let result = project.join("result.txt");
    fs::write(&result, "first").unwrap();
    let folder = folder(&sandbox);
    let file = folder.join("s.jsonl");
    let record = |number: u32, parent: &str, role: &str, text: &str| {
        let uuid = format!("u{number}");
        let parent = (!parent.is_empty()).then_some(parent);
        let record = json!({"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "s",
            "cwd": project, "timestamp": format!("2026-01-01T00:00:{number:02}Z"),
            "message": {"role": role, "content": text}});
        format!("{record}\n")
    };
    fs::write(&file, record(1, "", "user", "begin") + &record(2, "u1", "assistant", "one"))
        .unwrap();
    let mut command = sandbox.command(&["--json", "import", "--watch", "--files", "sessions"]);
    command.env("PATH", std::env::var("PATH").unwrap());
    let watch = Watch::of(command);
    watch.next("imported");
    append(&file, &record(3, "u2", "user", "go on"));
    watch.next("imported");
    let recorded = watch.next("snapshot");
    assert_eq!((&recorded["session_id"], &recorded["files"]), (&json!("s"), &json!(1)));
    fs::write(&result, "second").unwrap();
    append(&file, &record(4, "u3", "assistant", "two"));
    watch.next("imported");
    assert_ne!(watch.next("snapshot")["snapshot"], recorded["snapshot"]);
    // The session goes on following its file, and nothing is recorded twice.
    append(&file, &record(5, "u4", "user", "thanks"));
    watch.next("imported");
    assert_eq!(watch.end("-INT").0, Some(130));
    assert_eq!(events(&sandbox, "s"), 5);
}
