//! Tests of signals and Ctrl-C at a real terminal (tmux).

use rustix::process::Signal;
use serde_json::Value;

use crate::sandbox::{Sandbox, WORKSPACE};
use crate::scripted::{Answer, Scripted};
use crate::signals::{is_there, send, server, tools};
use crate::terminal::Terminal;

const TERM: (Signal, &str) = (Signal::TERM, "143");
const HUP: (Signal, &str) = (Signal::HUP, "129");

/// A shell script that runs the program. Afterwards the script prints the exit code, and whether
/// the terminal's settings were restored.
const SHELL: &str = "trap : INT; stty -a > ~/before; \"$@\"; ended=$?; stty -a > ~/after; \
    cmp ~/before ~/after && how=\"as it was\"; echo \"ended with $ended, left $how\"";

/// Starts a conversation with a scripted model in a new terminal.
fn talking<'a>(
    sandbox: &'a Sandbox,
    name: &'static str,
    model: &Scripted,
    more: &str,
) -> Terminal<'a> {
    at_terminal(sandbox, name, &format!("{}{more}", model.config()))
}

fn at_terminal<'a>(sandbox: &'a Sandbox, name: &'static str, config: &str) -> Terminal<'a> {
    sandbox.file("config.toml", config);
    let program = [env!("CARGO_BIN_EXE_forklore"), "--workspace", WORKSPACE, "chat"];
    let shell = [&["sh", "-c", SHELL, "sh"][..], &program].concat();
    let terminal = Terminal::running(sandbox, name, &shell);
    terminal.ready("main>");
    terminal
}

fn types(terminal: &Terminal<'_>, text: &str) {
    assert!(terminal.tmux(&["send-keys", "-l", text]).status().unwrap().success());
    assert!(terminal.tmux(&["send-keys", "Enter"]).status().unwrap().success());
}

fn ctrl_c(terminal: &Terminal<'_>) {
    assert!(terminal.tmux(&["send-keys", "C-c"]).status().unwrap().success());
}

/// Returns the process id of the program that the shell in the terminal runs.
fn process(terminal: &Terminal<'_>) -> u32 {
    let shell = terminal.tmux(&["list-panes", "-F", "#{pane_pid}"]).output().unwrap();
    let shell = String::from_utf8(shell.stdout).unwrap().trim().to_owned();
    let children = std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children"));
    children.unwrap().trim().parse().unwrap()
}

/// Waits until the program has ended. Asserts its exit code, and that it restored the terminal.
fn ended(terminal: &Terminal<'_>, code: &str) {
    let screen = terminal.until("end", |screen| screen.contains("left "));
    assert!(screen.contains("\nTo go on: forklore resume "), "{screen}");
    assert!(screen.contains(&format!("\nended with {code}, left as it was")), "{screen}");
}

/// Returns the events of the last session: the type of each, and its text or its decision.
fn stored(sandbox: &Sandbox) -> Vec<(String, String)> {
    let log = sandbox.ok(&["--json", "log", "last"]);
    let events = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let stored = events.filter(|event| event["type"] != "provider_usage").map(|event| {
        let data = &event["data"];
        let mark = if data["partial"] == true { "partial: " } else { "" };
        let words = [&data["content"], &data["name"], &data["decision"]].map(text);
        (text(&event["type"]), format!("{mark}{}", words.concat()))
    });
    assert_eq!(sandbox.json(&["show", "last"])["session"]["status"], "idle");
    stored.collect()
}

fn event(kind: &str, text: &str) -> (String, String) {
    (kind.to_owned(), text.to_owned())
}

#[test]
fn ctrl_c_interrupts_a_turn_and_the_next_one_works() {
    let sandbox = Sandbox::new();
    let model = Scripted::start(&[Answer::Begins("One, two,"), Answer::Says("three.")]);
    let terminal = talking(&sandbox, "press", &model, "");
    types(&terminal, "count");
    terminal.until("answer", |screen| screen.contains("One,"));
    ctrl_c(&terminal);
    let screen = terminal.ready("main>");
    assert!(screen.contains("interrupted; what was said is kept"), "{screen}");
    let expected =
        [event("user_message", "count"), event("assistant_message", "partial: One, two,")];
    assert_eq!(stored(&sandbox), expected);
    let next = terminal.line("and?", "main>");
    assert!(next.contains("three."), "{next}");
    // At the prompt, pressing Ctrl-C twice ends the program.
    ctrl_c(&terminal);
    terminal.until("way out", |screen| screen.contains("so does Ctrl-C again"));
    ctrl_c(&terminal);
    ended(&terminal, "0");
}

#[test]
fn ctrl_c_during_a_summary_forks_nothing() {
    let sandbox = Sandbox::new();
    let model = Scripted::start(&[Answer::Says("one."), Answer::Silence, Answer::Says("two.")]);
    let terminal = talking(&sandbox, "summary", &model, "");
    terminal.line("count", "main>");
    types(&terminal, "/summarize");
    terminal.until("sign of life", |screen| screen.contains(" scripted sums up, "));
    ctrl_c(&terminal);
    let screen = terminal.ready("main>");
    assert!(screen.contains("was interrupted; nothing of it was recorded"), "{screen}");
    assert!(!screen.contains("Summed up"), "{screen}");
    assert_eq!(sandbox.json(&["list"])["sessions"].as_array().unwrap().len(), 1);
    let stored = [event("user_message", "count"), event("assistant_message", "one.")];
    assert_eq!(self::stored(&sandbox), stored);
    let next = terminal.line("and?", "main>");
    assert!(next.contains("two."), "{next}");
    types(&terminal, "/quit");
    ended(&terminal, "0");
}

#[test]
fn an_interrupted_answer_of_a_real_model_is_gone_on_with() {
    let server = forklore_smollm::Server::start().unwrap();
    let sandbox = Sandbox::new();
    let config = format!(
        "[models.small]\nprovider = \"openai\"\nmodel = \"{}\"\nbase_url = \"{}\"\n\
         context_window = {}\nmax_output_tokens = 400\n",
        forklore_smollm::MODEL,
        server.openai(),
        forklore_smollm::CONTEXT
    );
    let terminal = at_terminal(&sandbox, "real", &config);
    types(&terminal, "Write a long story about the sea.");
    // The answer has begun below the greeting and the prompt, and the progress line is gone.
    terminal.until("beginning", |screen| {
        screen.lines().count() > 3 && !screen.ends_with("Ctrl-C interrupts")
    });
    ctrl_c(&terminal);
    terminal.ready("main>");
    let turns = terminal.line("/turns", "main>");
    assert!(turns.contains("1  assistant  (interrupted) "), "{turns}");
    let replayed = terminal.line("/replay", "main>");
    let marked = |line: &str| line.contains("assistant") && line.ends_with("  interrupted");
    assert!(replayed.lines().any(marked), "{replayed}");
    let before = stored(&sandbox);
    assert!(before[1].1.starts_with("partial: "), "{before:?}");
    let more = terminal.line("/continue", "main>");
    assert!(more.contains(" tokens in"), "{more}");
    let after = stored(&sandbox);
    assert_eq!(after[..2], before);
    let on = event("user_message", "[Your last answer was cut off. Go on from where it stopped.]");
    assert_eq!(after[2], on, "{after:?}");
    assert_eq!(after[3].0, "assistant_message");
    assert!(!after[3].1.starts_with("partial: "), "{after:?}");
}

#[test]
fn ctrl_c_ends_a_call_and_leaves_the_server() {
    let sandbox = Sandbox::new();
    let model = Scripted::start(&[
        Answer::Calls("all__trigger-long-running-operation", "{\"duration\": 60, \"steps\": 60}"),
        Answer::Calls("all__echo", "{\"message\": \"here\"}"),
        Answer::Says("never mind"),
    ]);
    let rules = "[policy]\nallow = [\"all.*\"]\n";
    let terminal = talking(&sandbox, "call", &model, &format!("{}{rules}", tools(&sandbox)));
    types(&terminal, "take your time");
    terminal.until("call", |screen| screen.contains("→ all__trigger"));
    let server = server(&sandbox);
    ctrl_c(&terminal);
    terminal.ready("main>");
    let next = terminal.line("well?", "main>");
    assert!(next.contains("Echo: here") && next.contains("never mind"), "{next}");
    assert_eq!(server, crate::signals::server(&sandbox), "it was started again");
    types(&terminal, "/quit");
    ended(&terminal, "0");
    assert!(!is_there(server), "the server runs on");
}

#[test]
fn signals_end_a_conversation_in_order_wherever_it_is() {
    for (signal, code) in [TERM, HUP] {
        let sandbox = Sandbox::new();
        let model = Scripted::start(&[Answer::Says("hello"), Answer::Begins("One, two,")]);
        let terminal = talking(&sandbox, "middle", &model, &tools(&sandbox));
        terminal.line("hi", "main>");
        types(&terminal, "count");
        terminal.until("answer", |screen| screen.contains("One,"));
        let server = server(&sandbox);
        send(process(&terminal), signal);
        ended(&terminal, code);
        assert!(!is_there(server), "the server runs on");
        let expected = [
            event("user_message", "hi"),
            event("assistant_message", "hello"),
            event("user_message", "count"),
            event("assistant_message", "partial: One, two,"),
        ];
        assert_eq!(stored(&sandbox), expected);
        // The typed lines are in the history file, which the next conversation loads.
        let remembered = sandbox.path().join("home/.local/share/forklore/chat-history");
        let remembered = std::fs::read_to_string(remembered).unwrap();
        assert!(remembered.ends_with("hi\ncount\n"), "{remembered}");
    }
}

#[test]
fn signals_end_a_conversation_that_waits_for_a_line() {
    for (signal, code) in [TERM, HUP] {
        let sandbox = Sandbox::new();
        let model = Scripted::start(&[Answer::Says("hello")]);
        let terminal = talking(&sandbox, "waits", &model, &tools(&sandbox));
        terminal.line("hi", "main>");
        let server = server(&sandbox);
        assert!(terminal.tmux(&["send-keys", "-l", "half a line"]).status().unwrap().success());
        terminal.until("line", |screen| screen.ends_with("main> half a line"));
        send(process(&terminal), signal);
        ended(&terminal, code);
        assert!(terminal.screen().contains("half a line\nTo go on: "), "{}", terminal.screen());
        assert!(!is_there(server), "the server runs on");
        assert_eq!(stored(&sandbox).len(), 2);
    }
}

#[test]
fn signals_end_a_conversation_that_asks_about_a_call() {
    for (signal, code) in [TERM, HUP] {
        let sandbox = Sandbox::new();
        let model = Scripted::start(&[Answer::Calls("all__echo", "{\"message\": \"m\"}")]);
        let terminal = talking(&sandbox, "asks", &model, &tools(&sandbox));
        types(&terminal, "echo it");
        terminal.until("question", |screen| screen.contains("May it? [y]es"));
        send(process(&terminal), signal);
        ended(&terminal, code);
        let expected = [
            event("user_message", "echo it"),
            event("tool_call", "all__echo"),
            event("permission_decision", "denied"),
            event("tool_result", "Denied"),
        ];
        let stored = stored(&sandbox);
        assert_eq!(stored[..2], expected[..2], "{stored:?}");
        let kinds: Vec<&str> = stored.iter().map(|(kind, _)| kind.as_str()).collect();
        assert_eq!(kinds, expected.each_ref().map(|(kind, _)| kind.as_str()), "{stored:?}");
    }
}
