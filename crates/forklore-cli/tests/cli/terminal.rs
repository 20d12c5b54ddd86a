//! Tests of a conversation at a real terminal (tmux) with the real small model. If
//! `FORKLORE_CAPTURES` names a folder, the tests write the screens there. docs/chat.md shows these
//! screens.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::sandbox::{Sandbox, WORKSPACE};

const CONFIG: &str = "[models.small]\nprovider = \"openai\"\nmodel = \"smollm2\"\n\
    context_window = 4096\nmax_output_tokens = 32\n";

/// A tmux terminal that runs one program. Dropping this value ends the terminal.
pub(crate) struct Terminal<'a> {
    sandbox: &'a Sandbox,
    name: &'static str,
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        // The command fails if tmux has already ended.
        let _ = self.tmux(&["kill-server"]).output();
    }
}

impl<'a> Terminal<'a> {
    pub(crate) fn start(sandbox: &'a Sandbox, name: &'static str, words: &[&str]) -> Self {
        let program = [env!("CARGO_BIN_EXE_forklore"), "--workspace", WORKSPACE];
        Self::running(sandbox, name, &[&program[..], words].concat())
    }

    /// Starts a terminal that runs a program. `program` has the name of the program and its
    /// arguments.
    pub(crate) fn running(sandbox: &'a Sandbox, name: &'static str, program: &[&str]) -> Self {
        let terminal = Self { sandbox, name };
        let settings = sandbox.file("tmux.conf", "set -g remain-on-exit on\n");
        let settings = settings.to_str().unwrap();
        let mut line = vec!["-f", settings, "new-session", "-d", "-x", "92", "-y", "48"];
        line.extend(program);
        let started = terminal.tmux(&line).output().unwrap();
        assert!(started.status.success(), "{started:?}");
        terminal
    }

    pub(crate) fn tmux(&self, words: &[&str]) -> Command {
        let program = std::env::var_os("FORKLORE_TMUX").unwrap_or_else(|| "tmux".into());
        let forklore = self.sandbox.command(&[]);
        let mut command = Command::new(program);
        command.env_clear().args(["-u", "-L", self.name]).args(words);
        for (name, value) in forklore.get_envs() {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
        let expected = ["PATH", "LD_LIBRARY_PATH"];
        command.envs(expected.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command
            .env_remove("COLUMNS")
            .env("TERM", "xterm-256color")
            .env("LANG", "C.UTF-8")
            .env("TMUX_TMPDIR", self.sandbox.path())
            .env("FORKLORE_CONFIG", self.sandbox.path().join("config.toml"));
        command
    }

    pub(crate) fn screen(&self) -> String {
        let shown = self.tmux(&["capture-pane", "-p", "-S", "-500"]).output().unwrap();
        String::from_utf8(shown.stdout).unwrap().trim_end().to_owned()
    }

    /// Waits until `shown` accepts the content of the screen, and returns the content. `what` names
    /// the expected content in a failure.
    pub(crate) fn until(&self, what: &str, shown: impl Fn(&str) -> bool) -> String {
        let mut screen = String::new();
        for _ in 0..10_000 {
            screen = self.screen();
            if shown(&screen) {
                return screen;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("no {what}:\n{screen}");
    }

    /// Waits until the last line of the screen is `prompt`, so that a line can be typed.
    pub(crate) fn ready(&self, prompt: &str) -> String {
        self.until(prompt, |screen| screen.lines().last().is_some_and(|line| line == prompt))
    }

    /// Types a line and waits for the next prompt. Returns the screen from the typed line up to
    /// that prompt.
    pub(crate) fn line(&self, text: &str, prompt: &str) -> String {
        let before = self.screen().lines().count();
        assert!(self.tmux(&["send-keys", "-l", text]).status().unwrap().success());
        assert!(self.tmux(&["send-keys", "Enter"]).status().unwrap().success());
        let screen = self.until(prompt, |screen| {
            let lines = screen.lines().count();
            lines > before && screen.lines().last() == Some(prompt)
        });
        let since: Vec<&str> = screen.lines().skip(before.saturating_sub(1)).collect();
        let (_, since) = since.split_last().unwrap();
        since.join("\n")
    }
}

/// Writes a screen to the folder `FORKLORE_CAPTURES`, if the variable is set.
fn save(name: &str, screen: &str) {
    if let Some(folder) = std::env::var_os("FORKLORE_CAPTURES") {
        std::fs::write(Path::new(&folder).join(name), format!("{screen}\n")).unwrap();
    }
}

#[test]
fn only_what_goes_to_a_terminal_is_broken_at_its_width() {
    let sandbox = Sandbox::with_a_plan();
    let id = "x".repeat(70);
    let program = format!("{} show {id}", env!("CARGO_BIN_EXE_forklore"));
    // First the error alone goes to the terminal, then the answer alone.
    let error = sandbox.path().join("error");
    let script = format!("{program} | cat; {program} 2> {}; echo done", error.display());
    let terminal = Terminal::running(&sandbox, "streams", &["sh", "-c", &script]);
    let screen = terminal.until("end", |screen| screen.contains("done"));
    let broken = format!("error: session {id} does\n       not exist\n");
    assert!(screen.starts_with(&broken), "{screen}");
    let error = std::fs::read_to_string(error).unwrap();
    assert!(error.starts_with(&format!("error: session {id} does not exist\n")), "{error}");
}

#[test]
fn one_forks_explores_brings_and_resumes_at_a_terminal() {
    let server = forklore_smollm::Server::start().unwrap();
    let sandbox = Sandbox::new();
    sandbox.file("config.toml", &format!("{CONFIG}base_url = \"{}\"\n", server.openai()));
    let terminal = Terminal::start(&sandbox, "chat", &["chat", "--title", "words"]);
    terminal.ready("main>");
    let mut talk = vec![terminal.line("Name three colours.", "main>")];
    talk.push(terminal.line("/fork --label fruits", "fruits>"));
    talk.push(terminal.line("Name three fruits.", "fruits>"));
    talk.push(terminal.line("/back", "main>"));
    talk.push(terminal.line("Name three birds.", "main>"));
    save("talk.txt", &talk.join("\n"));
    let turns = terminal.line("/turns", "main>");
    assert!(turns.contains("Name three birds."), "{turns}");
    save("turns.txt", &turns);
    let brought = terminal.line("/bring fruits", "main>");
    assert!(brought.contains("Brought fruits into main"), "{brought}");
    let again = terminal.line("/bring fruits", "main>");
    assert!(again.contains("Was brought already"), "{again}");
    save("bring.txt", &brought);
    let command = "/explore Say that in one word. -n 4 --judge 'wc -c' --jobs 1";
    let before = terminal.screen().lines().count();
    terminal.tmux(&["send-keys", "-l", command]).status().unwrap();
    terminal.tmux(&["send-keys", "Enter"]).status().unwrap();
    let answers = terminal.until("answers", |screen| screen.contains("Enter keeps it"));
    assert!(answers.contains("try-1") && answers.contains("try-2"), "{answers}");
    save("answers.txt", &answers);
    terminal.tmux(&["send-keys", "-l", "q"]).status().unwrap();
    let explored = terminal.until("table", |screen| {
        screen.contains("/switch LABEL goes on in one") && screen.lines().last() == Some("main>")
    });
    let explored: Vec<&str> = explored.lines().skip(before.saturating_sub(1)).collect();
    let (_, explored) = explored.split_last().unwrap();
    let explored = explored.join("\n");
    for label in ["try-1", "try-2", "try-3", "try-4"] {
        assert!(explored.contains(label), "{explored}");
    }
    save("explore.txt", &explored);
    let tree = terminal.line("/tree", "main>");
    save("tree.txt", &tree);
    assert!(tree.contains("fruits") && tree.contains("try-4"), "{tree}");
    terminal.tmux(&["send-keys", "-l", "/quit"]).status().unwrap();
    terminal.tmux(&["send-keys", "Enter"]).status().unwrap();
    let left = terminal.until("way to go on", |screen| screen.contains("To go on: "));
    assert!(left.contains("forklore resume "), "{left}");
    drop(terminal);
    resumed(&sandbox);
}

/// Resumes the branch `@fruits` in a new process.
fn resumed(sandbox: &Sandbox) {
    let terminal = Terminal::start(sandbox, "resume", &["resume", "@fruits"]);
    terminal.ready("fruits>");
    let mut resumed = vec![terminal.line("Name one more.", "fruits>")];
    resumed.push(terminal.line("/turns", "fruits>"));
    save("resume.txt", &resumed.join("\n"));
    let branches = sandbox.json(&["branches", "@fruits"]);
    let labels: Vec<&str> = branches["branches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|branch| branch["label"].as_str().unwrap())
        .collect();
    assert_eq!(labels.len(), 6, "{labels:?}");
    let log = sandbox.ok(&["--json", "log", "@main"]);
    let events = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let text: Vec<Value> = events.filter(|event| event["type"] == "branch_summary").collect();
    assert_eq!(text.len(), 1);
    assert_eq!(text[0]["data"]["brought_from"], "fruits");
    let replay = sandbox.ok(&["--json", "replay", "@fruits"]);
    assert_eq!(replay.lines().count(), 6);
}

#[test]
fn one_sums_up_and_delegates_at_a_terminal() {
    let server = forklore_smollm::Server::start().unwrap();
    let sandbox = Sandbox::new();
    sandbox.file("config.toml", &format!("{CONFIG}base_url = \"{}\"\n", server.openai()));
    let terminal = Terminal::start(&sandbox, "sums", &["chat"]);
    terminal.ready("main>");
    terminal.line("Name three colours.", "main>");
    let delegated = terminal.line("/delegate Name three birds.", "main>");
    let label = delegated.split("/switch @").nth(1).unwrap();
    let label = label.split_whitespace().next().unwrap();
    assert!(delegated.contains(&format!("Done by @{label}; ")), "{delegated}");
    let log = sandbox.ok(&["--json", "log", "@main"]);
    assert_eq!(log.matches("subagent_event").count(), 2, "{log}");
    terminal.line(&format!("/switch @{label}"), &format!("{label}>"));
    terminal.line("/back", "main>");
    let requested = terminal.tmux(&["send-keys", "-l", "/summarize"]).status().unwrap();
    assert!(
        requested.success() && terminal.tmux(&["send-keys", "Enter"]).status().unwrap().success()
    );
    let screen = terminal.until("summary", |screen| {
        let last = screen.lines().last().unwrap_or_default();
        last.strip_suffix('>').is_some_and(crate::sandbox::is_generated_label)
    });
    assert!(screen.contains("Summed up by small (smollm2), now on "), "{screen}");
    assert!(!screen.contains("; Ctrl-C interrupts"), "{screen}");
}

#[test]
fn lines_that_come_at_once_are_read_one_by_one() {
    let sandbox = Sandbox::new();
    sandbox.file("config.toml", &format!("{CONFIG}base_url = \"http://127.0.0.1:9/v1\"\n"));
    let terminal = Terminal::start(&sandbox, "ahead", &["chat"]);
    terminal.ready("main>");
    let lines = "/model\n/branches\n/help\n";
    assert!(terminal.tmux(&["send-keys", "-l", lines]).status().unwrap().success());
    let received = ["main> /model", "main> /branches", "main> /help"];
    terminal.until("all lines", |screen| {
        received.iter().all(|line| screen.contains(line)) && screen.lines().last() == Some("main>")
    });
}
