//! Tests of a conversation at a real terminal (tmux) with a scripted model: going back to a question,
//! opening files, other terminals, a server that is gone, and answers side by side.

use crate::sandbox::{Sandbox, WORKSPACE};
use crate::scripted::{Answer, Scripted};
use crate::terminal::Terminal;
use crate::typing::{keys, last_messages, says, talking, types};

/// Returns the text of the prompt line, after the branch's name.
fn typed(screen: &str) -> &str {
    screen.lines().last().and_then(|line| line.split_once("> ")).map_or("", |(_, typed)| typed)
}

#[test]
fn two_escapes_show_ones_questions_and_bring_one_back() {
    let sandbox = Sandbox::new();
    let model =
        Scripted::start(&[Answer::Says("one."), Answer::Says("two."), Answer::Says("new.")]);
    let terminal = talking(&sandbox, "escape", &model, "");
    terminal.line("What is first?", "main>");
    terminal.line("What is second?", "main>");
    let before = terminal.screen();
    keys(&terminal, &["Escape", "Escape"]);
    let list = terminal.until("questions", |screen| screen.contains("Enter takes it"));
    let list: Vec<&str> = list.lines().skip(before.lines().count()).collect();
    insta::assert_snapshot!(list.join("\n"));
    // Esc leaves everything as it is.
    keys(&terminal, &["Escape"]);
    terminal.ready("main>");
    keys(&terminal, &["Escape", "Escape"]);
    terminal.until("questions", |screen| screen.contains("Enter takes it"));
    keys(&terminal, &["Up", "Enter"]);
    let screen = terminal.until("question", |screen| typed(screen) == "What is first?");
    assert!(screen.contains("Rewound to 0 messages, now on "), "{screen}");
    assert!(!screen.contains("Enter takes it"), "{screen}");
    types(&terminal, " Really?");
    terminal.until("edited question", |screen| typed(screen) == "What is first? Really?");
    keys(&terminal, &["Enter"]);
    terminal.until("answer", |screen| screen.contains("new."));
    let expected = ["What is first?", "What is second?", "What is first? Really?"];
    assert_eq!(last_messages(&model), expected);
    assert_eq!(model.requests()[2].len(), 1);
}

#[test]
fn a_session_file_is_gone_on_with_where_one_talks() {
    let sandbox = Sandbox::new();
    let lines = "{\"role\":\"user\",\"content\":\"plan A or plan B?\"}\n\
        {\"role\":\"assistant\",\"content\":\"Plan B.\"}\n";
    let file = sandbox.file("chat.jsonl", lines).display().to_string();
    let model = Scripted::start(&[Answer::Says("one.")]);
    let terminal = talking(&sandbox, "file", &model, "");
    let opened = terminal.line(&format!("/resume {file}"), "main>");
    assert!(opened.contains("> plan A or plan B?\nPlan B."), "{opened}");
    terminal.line("and the cost?", "main>");
    assert_eq!(model.requests()[0].len(), 3);
    let gone = terminal.line("/resume /no/such.jsonl", "main>");
    assert!(gone.contains("error: there is no such session file"), "{gone}");
}

#[test]
fn a_turn_at_another_terminal_is_announced_at_this_one() {
    let sandbox = Sandbox::new();
    let answers = ["one.", "two.", "three."].map(Answer::Says);
    let model = Scripted::start(&answers);
    let first = talking(&sandbox, "here", &model, "");
    first.line("hello", "main>");
    let second = Terminal::start(&sandbox, "there", &["resume", "last"]);
    second.ready("main>");
    second.line("Which is best?", "main>");
    let answered = first.line("and?", "main>");
    let expected = "another program wrote 2 messages here meanwhile; the model reads them, /replay shows \
        them\n      2  user       Which is best?\n      3  assistant  two.\nthree.";
    let lines: Vec<&str> = answered.lines().skip(1).collect();
    assert_eq!(lines.join("\n"), expected);
}

#[test]
fn a_server_that_is_gone_is_named_with_what_goes_on() {
    let sandbox = Sandbox::new();
    let address = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/v1", listener.local_addr().unwrap())
    };
    let path = sandbox.file(
        "config.toml",
        &format!("[models.gone]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"{address}\"\n"),
    );
    let terminal = Terminal::start(&sandbox, "gone", &["chat"]);
    terminal.ready("main>");
    let failed = terminal.line("hello", "main>");
    let words = failed.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = format!(
        "nothing answers at {address}, the address of [models.gone] in {} /continue asks again, \
         /model NAME lets another answer",
        path.display()
    );
    assert!(words.ends_with(&expected), "{failed}");
}

#[test]
fn one_of_the_answers_side_by_side_is_chosen() {
    let sandbox = Sandbox::new();
    let answers = ["one.", "first answer", "second answer", "third answer", "on."];
    let model = Scripted::start(&answers.map(Answer::Says));
    let terminal = talking(&sandbox, "beside", &model, "");
    terminal.line("hello", "main>");
    says(&terminal, "/explore Which? -n 3 --jobs 1 --judge 'wc -c'");
    let screen = terminal.until("answers", |screen| screen.contains("Enter keeps it"));
    assert!(screen.contains("second answer") && screen.contains("try-2  13  best"), "{screen}");
    keys(&terminal, &["Left", "Enter"]);
    let screen = terminal.ready("try-1>");
    assert!(screen.contains("Explored 3 ways from main"), "{screen}");
    assert!(screen.contains("Now on try-1; /back returns"), "{screen}");
    assert!(!screen.contains("Enter keeps it"), "{screen}");
    let branches = sandbox.json(&["branches", "@try-1"]);
    assert_eq!(branches["branches"].as_array().unwrap().len(), 4);
    terminal.line("/back", "main>");
    says(&terminal, "/explore Which? -n 2 --jobs 1 --label way");
    terminal.until("answers", |screen| screen.contains("Enter keeps it"));
    keys(&terminal, &["Right", "x"]);
    let screen = terminal.ready("way-2>");
    assert!(screen.contains("in the trash: way-1; "), "{screen}");
    let branches = sandbox.json(&["branches", "@way-2"]);
    assert_eq!(branches["branches"].as_array().unwrap().len(), 5);
    let deleted = sandbox.json(&["list", "--deleted"]);
    assert_eq!(deleted["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn the_command_explore_shows_answers_side_by_side_only_at_a_terminal() {
    let sandbox = Sandbox::new();
    let answers = ["first answer", "second answer", "third answer", "fourth answer"];
    let model = Scripted::start(&answers.map(Answer::Says));
    sandbox.file("config.toml", &model.config());
    sandbox.ok(&["new", "--id", "talk"]);
    sandbox.ok(&["append", "talk", "--text", "hello"]);
    let explore = ["explore", "talk", "Which?", "-n", "2", "--jobs", "1"];
    let terminal = Terminal::start(&sandbox, "explore", &explore);
    terminal.until("answers", |screen| screen.contains("Enter keeps it"));
    keys(&terminal, &["Right", "Enter"]);
    let screen = terminal.until("way on", |screen| screen.contains("go on in what you kept"));
    let branches = sandbox.json(&["branches", "talk"]);
    let mut branches = branches["branches"].as_array().unwrap().iter();
    let chosen = branches.find(|branch| branch["label"] == "try-2").unwrap();
    let chosen = chosen["session_id"].as_str().unwrap();
    assert!(screen.contains(&format!("forklore resume {chosen}")), "{screen}");
    drop(terminal);
    let program = [env!("CARGO_BIN_EXE_forklore"), "--workspace", WORKSPACE, "--no-pager"];
    let terminal = Terminal::running(&sandbox, "plain", &[&program[..], &explore[..]].concat());
    let screen = terminal.until("table", |screen| screen.contains("see what differs"));
    assert!(!screen.contains("Enter keeps it"), "{screen}");
}
