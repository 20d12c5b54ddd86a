//! Tests of input at a real terminal (tmux): text that is typed before, during and after turns and
//! questions.

use serde_json::Value;

use crate::sandbox::Sandbox;
use crate::scripted::{Answer, Scripted};
use crate::signals::tools;
use crate::terminal::Terminal;

const MAY_IT: &str = "May it? [y]es, [n]o, [a]lways:";

/// Starts a conversation with a scripted model in a new terminal.
pub(crate) fn talking<'a>(
    sandbox: &'a Sandbox,
    name: &'static str,
    model: &Scripted,
    more: &str,
) -> Terminal<'a> {
    sandbox.file("config.toml", &format!("{}{more}", model.config()));
    let terminal = Terminal::start(sandbox, name, &["chat"]);
    terminal.ready("main>");
    terminal
}

pub(crate) fn keys(terminal: &Terminal<'_>, keys: &[&str]) {
    let words = [&["send-keys"], keys].concat();
    assert!(terminal.tmux(&words).status().unwrap().success());
}

pub(crate) fn types(terminal: &Terminal<'_>, text: &str) {
    keys(terminal, &["-l", text]);
}

pub(crate) fn says(terminal: &Terminal<'_>, text: &str) {
    types(terminal, text);
    keys(terminal, &["Enter"]);
}

fn pastes(sandbox: &Sandbox, terminal: &Terminal<'_>, text: &str) {
    let file = sandbox.file("pasted.txt", text);
    let load = ["load-buffer", file.to_str().unwrap()];
    for words in [&load[..], &["paste-buffer", "-p"]] {
        assert!(terminal.tmux(words).status().unwrap().success());
    }
}

/// Returns the text of the last message in each request.
pub(crate) fn last_messages(model: &Scripted) -> Vec<String> {
    let last = |request: &Vec<(String, String)>| request.last().unwrap().1.clone();
    model.requests().iter().map(last).collect()
}

#[test]
fn an_interruption_puts_lines_back_into_the_prompt() {
    let sandbox = Sandbox::new();
    let model = Scripted::start(&[Answer::Begins("One, two,"), Answer::Says("three.")]);
    let terminal = talking(&sandbox, "quiet", &model, "");
    says(&terminal, "count");
    terminal.until("answer", |screen| screen.contains("One,"));
    types(&terminal, "and thx");
    keys(&terminal, &["BSpace"]);
    says(&terminal, "en?");
    types(&terminal, "not yet");
    keys(&terminal, &["C-c"]);
    let screen = terminal.until("prompt", |screen| screen.ends_with("and then?\nnot yet"));
    let (_, since) = screen.split_once("One, two,").unwrap();
    // Text typed during the interrupted turn waits in the input line and is not sent, so that the
    // user can edit it first.
    let waited = "\ninterrupting ...\ninterrupted; what was said is kept, /continue goes on\n\
        main> and then?\nnot yet";
    assert_eq!(since, waited);
    keys(&terminal, &["Enter"]);
    terminal.until("answer", |screen| screen.ends_with("three.\nmain>"));
    assert_eq!(last_messages(&model), ["count", "and then?\nnot yet"]);
}

#[test]
fn lines_typed_during_an_answer_are_sent_after_it() {
    let sandbox = Sandbox::new();
    let model = Scripted::start(&[
        Answer::Calls("all__trigger-long-running-operation", "{\"duration\": 2, \"steps\": 2}"),
        Answer::Says("one."),
        Answer::Says("two."),
    ]);
    let rules = "[policy]\nallow = [\"all.*\"]\n";
    let terminal = talking(&sandbox, "after", &model, &format!("{}{rules}", tools(&sandbox)));
    says(&terminal, "count");
    terminal.until("call", |screen| screen.contains("→ all__trigger"));
    says(&terminal, "and then?");
    terminal.until("both", |screen| screen.ends_with("two.\nmain>"));
    assert_eq!(last_messages(&model).last().unwrap(), "and then?");
}

#[test]
fn ctrl_c_over_a_text_keeps_it_in_the_history_and_does_not_leave() {
    let sandbox = Sandbox::new();
    let model = Scripted::start(&[Answer::Says("one.")]);
    let terminal = talking(&sandbox, "typed", &model, "");
    keys(&terminal, &["C-c"]);
    terminal.until("way out", |screen| screen.contains("so does Ctrl-C again"));
    terminal.ready("main>");
    types(&terminal, "half a line");
    keys(&terminal, &["C-c"]);
    terminal.until("note", |screen| screen.ends_with("the up arrow has what you typed\nmain>"));
    keys(&terminal, &["Up", "Enter"]);
    terminal.until("answer", |screen| screen.ends_with("one.\nmain>"));
    assert_eq!(last_messages(&model), ["half a line"]);
}

#[test]
fn a_pasted_text_is_one_message_whenever_it_comes() {
    let sandbox = Sandbox::new();
    let model =
        Scripted::start(&[Answer::Says("one."), Answer::Begins("two and"), Answer::Says("three.")]);
    let terminal = talking(&sandbox, "paste", &model, "");
    let text = "first line\n/tree\nthird line";
    pastes(&sandbox, &terminal, text);
    terminal.until("text", |screen| screen.ends_with("main> first line\n/tree\nthird line"));
    keys(&terminal, &["Enter"]);
    terminal.until("answer", |screen| screen.ends_with("one.\nmain>"));
    says(&terminal, "wait");
    terminal.until("answer", |screen| screen.contains("\ntwo"));
    pastes(&sandbox, &terminal, text);
    keys(&terminal, &["C-c"]);
    terminal.until("text", |screen| screen.ends_with("main> first line\n/tree\nthird line"));
    keys(&terminal, &["Enter"]);
    terminal.until("answer", |screen| screen.ends_with("three.\nmain>"));
    assert_eq!(last_messages(&model), [text, "wait", text]);
}

#[test]
fn what_takes_its_time_shows_a_sign_of_life() {
    let sandbox = Sandbox::new();
    let model = Scripted::start(&[Answer::Silence, Answer::Says("hello")]);
    let terminal = talking(&sandbox, "life", &model, "");
    says(&terminal, "hello?");
    terminal.until("sign", |screen| {
        screen.contains(" scripted answers, ") && screen.ends_with(" s; Ctrl-C interrupts")
    });
    keys(&terminal, &["C-c"]);
    let screen = terminal.ready("main>");
    assert!(
        screen
            .ends_with("main> hello?\ninterrupting ...\ninterrupted; what was said is kept, /continue goes on\nmain>"),
        "{screen}"
    );
}

/// Returns the recorded decisions about tool calls, oldest first.
fn decided(sandbox: &Sandbox) -> Vec<String> {
    let log = sandbox.ok(&["--json", "log", "last"]);
    let events = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let decisions = events.filter(|event| event["type"] == "permission_decision");
    decisions.map(|event| event["data"]["decision"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn calls_of_a_real_server_need_approval() {
    let sandbox = Sandbox::new();
    let call = Answer::Calls("all__echo", "{\"message\": \"here\"}");
    let model = Scripted::start(&[
        call,
        Answer::Says("one."),
        call,
        Answer::Says("two."),
        call,
        Answer::Says("three."),
        call,
        Answer::Says("four."),
    ]);
    let terminal = talking(&sandbox, "asked", &model, &tools(&sandbox));
    let question = |count: usize| {
        terminal.until("question", |screen| {
            screen.matches(MAY_IT).count() == count && screen.ends_with(MAY_IT)
        })
    };
    says(&terminal, "first");
    let screen = question(1);
    let path = sandbox.path().join("config.toml").display().to_string();
    let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    let rule = format!(
        "→ all__echo {{\"message\": \"here\"}} no rule allows it: --allow all.echo does for one run, \
         allow = [\"all.echo\"] in [policy] of {path} always May it?"
    );
    assert!(words.contains(&rule), "{screen}");
    // After an invalid answer, the question is repeated.
    says(&terminal, "well");
    question(2);
    says(&terminal, "y");
    let screen = terminal.ready("main>");
    assert!(screen.contains(": y\n") && screen.contains("  Echo: here\none.\n"), "{screen}");
    says(&terminal, "second");
    question(3);
    says(&terminal, "n");
    let screen = terminal.until("answer", |screen| screen.ends_with("two.\n1 call\nmain>"));
    assert!(screen.contains("the user said no"), "{screen}");
    says(&terminal, "third");
    question(4);
    says(&terminal, "always");
    terminal.until("answer", |screen| screen.ends_with("three.\n1 call\nmain>"));
    let fourth = terminal.line("fourth", "main>");
    assert!(fourth.contains("four.") && !fourth.contains(MAY_IT), "{fourth}");
    assert_eq!(decided(&sandbox), ["allow", "deny", "allow", "allow"]);
}

#[test]
fn a_rule_that_asks_is_named() {
    let sandbox = Sandbox::new();
    let model = Scripted::start(&[Answer::Calls("all__echo", "{\"message\": \"here\"}")]);
    let rules = "[policy]\nallow = [\"all.*\"]\nask = [\"*.echo\"]\n";
    let terminal = talking(&sandbox, "rule", &model, &format!("{}{rules}", tools(&sandbox)));
    says(&terminal, "first");
    let screen = terminal.until("question", |screen| screen.ends_with(MAY_IT));
    let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    let path = sandbox.path().join("config.toml").display().to_string();
    let rule = format!(
        "asked because of ask = [\"*.echo\"] in [policy] of {path}; --allow all.echo lets it run in \
         one run May it?"
    );
    assert!(words.contains(&rule), "{screen}");
}

#[test]
fn typeahead_answers_no_question() {
    let sandbox = Sandbox::new();
    let model = Scripted::start(&[
        Answer::Calls("all__trigger-long-running-operation", "{\"duration\": 10, \"steps\": 2}"),
        Answer::Calls("all__echo", "{\"message\": \"here\"}"),
        Answer::Says("one."),
        Answer::Says("two."),
    ]);
    let rules = "[policy]\nallow = [\"all.trigger-*\"]\n";
    let terminal = talking(&sandbox, "ahead2", &model, &format!("{}{rules}", tools(&sandbox)));
    says(&terminal, "take your time");
    terminal.until("call", |screen| screen.contains("→ all__trigger"));
    says(&terminal, "y");
    terminal.until("question", |screen| screen.ends_with(MAY_IT));
    says(&terminal, "n");
    // After the turn, the text typed before the question is sent as a prompt.
    terminal.until("answer", |screen| {
        screen.contains("\nmain> y\n") && screen.ends_with("two.\nmain>")
    });
    assert_eq!(decided(&sandbox), ["allow", "deny"]);
}

#[test]
fn the_second_conversation_is_offered_a_fork() {
    let sandbox = Sandbox::new();
    let model =
        Scripted::start(&[Answer::Says("one."), Answer::Begins("two and"), Answer::Says("three.")]);
    let first = talking(&sandbox, "first", &model, "");
    first.line("hello", "main>");
    says(&first, "and?");
    first.until("answer", |screen| screen.contains("\ntwo"));
    let second = Terminal::start(&sandbox, "second", &["resume", "last"]);
    second.ready("main>");
    says(&second, "me too");
    let question = "Go on in a fork of it, or wait? [Y/n/w]";
    let screen = second.until("question", |screen| screen.ends_with(question));
    assert!(screen.contains("error: session main is running, held by "), "{screen}");
    says(&second, "n");
    let left = second.ready("main>");
    assert!(left.contains("what you said was not stored; the up arrow has it"), "{left}");
    keys(&second, &["Up", "Enter"]);
    second.until("question", |screen| screen.ends_with(question));
    keys(&second, &["Enter"]);
    let screen = second.until("answer", |screen| screen.contains("\nthree.\n"));
    assert!(screen.contains("\nNow on "), "{screen}");
    let branches = sandbox.json(&["branches", "last"]);
    assert_eq!(branches["branches"].as_array().unwrap().len(), 2);
}

#[test]
fn a_full_context_is_reported_and_compacted() {
    let sandbox = Sandbox::new();
    let long: &str = Box::leak("Words and words. ".repeat(150).into_boxed_str());
    let model =
        Scripted::start(&[Answer::Says(long), Answer::Says("two."), Answer::Says("They talked.")]);
    let terminal = talking(&sandbox, "full", &model, "context_window = 1000\n");
    let first = terminal.line("tell me", "main>");
    assert!(first.contains(" % full; /compact makes room"), "{first}");
    terminal.line("and?", "main>");
    let compacted = terminal.line("/compact", "main>");
    let lines: Vec<&str> = compacted.lines().skip(1).collect();
    assert!(matches!(lines[..], [line] if line.starts_with("Compacted from ")), "{compacted}");
    let inspected = terminal.line("/inspect", "main>");
    assert!(inspected.contains("They talked."), "{inspected}");
}

#[test]
fn tab_completes_what_there_is() {
    let sandbox = Sandbox::new();
    let model = Scripted::start(&[]);
    let terminal = talking(&sandbox, "tab", &model, "");
    terminal.line("hello", "main>");
    terminal.line("/fork --label plan-b --stay", "main>");
    let file = sandbox.file("talk.txt", "").display().to_string();
    let (begun, whole) =
        (format!("/export {}", file.trim_end_matches("k.txt")), format!("/export {file}"));
    for (typed, whole) in [
        ("/sw", "/switch"),
        ("/switch pl", "/switch @plan-b"),
        ("/fork tu", "/fork turn:1"),
        ("/model s", "/model scripted"),
        ("/help rew", "/help rewind"),
        (&*begun, &*whole),
        ("/export x --to cl", "/export x --to claude"),
    ] {
        types(&terminal, typed);
        keys(&terminal, &["Tab"]);
        let line = format!("main> {whole}");
        terminal.until(whole, |screen| screen.lines().last() == Some(&line));
        keys(&terminal, &["C-u"]);
        terminal.ready("main>");
    }
}

#[test]
fn lines_fit_the_terminal_also_when_it_changes() {
    let sandbox = Sandbox::new();
    let model = Scripted::start(&[Answer::Says(
        "A long answer that has to be broken at words, not somewhere within one of them.",
    )]);
    let terminal = talking(&sandbox, "narrow", &model, "");
    let widest = |width: &str| {
        let resize = ["resize-window", "-x", width, "-y", "48"];
        assert!(terminal.tmux(&resize).status().unwrap().success());
        keys(&terminal, &["C-l"]);
        terminal.until("cleared screen", |screen| {
            // Clear the history repeatedly, because tmux moves the old screen into it after some
            // time.
            assert!(terminal.tmux(&["clear-history"]).status().unwrap().success());
            screen == "main>"
        });
        let lines =
            ["/tree", "/branches", "/turns", "/history", "/stats", "/frok", "/help", "/help fork"];
        let shown = lines.map(|line| terminal.line(line, "main>"));
        assert!(shown[0].contains("here"), "{shown:?}");
        // With `-J`, tmux joins a line that the terminal wrapped.
        let joined = terminal.tmux(&["capture-pane", "-p", "-J"]).output().unwrap();
        let joined = String::from_utf8(joined.stdout).unwrap();
        joined.lines().map(|line| line.trim_end().chars().count()).max().unwrap()
    };
    terminal.line("hello", "main>");
    terminal.line("/fork --label a-branch-of-some-length", "a-branch-of-some-length>");
    terminal.line("/back", "main>");
    for width in ["60", "80", "100"] {
        assert!(widest(width) <= width.parse().unwrap(), "at {width}:\n{}", terminal.screen());
    }
}
