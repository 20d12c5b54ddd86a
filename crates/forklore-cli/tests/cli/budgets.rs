//! Tests of budgets, which stop models before the next request: `--max-cost` and the table
//! `[budget]` of the configuration. Each request of the scripted model costs 1 USD.

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox, ran};
use crate::scripted::{Answer, Scripted};
use crate::signals::forklore;
use crate::terminal::Terminal;

const PRICE: &str = "price = { input = 10000, output = 0 }\n";
const TASK: Answer = Answer::Calls("delegate", "{\"task\": \"your part\"}");

/// Creates an environment whose configuration has the model `scripted` with a price, and `more`.
fn priced(answers: &[Answer], more: &str) -> (Sandbox, Scripted) {
    let sandbox = Sandbox::new();
    let model = Scripted::with_usage(answers);
    sandbox.file("config.toml", &format!("{}{PRICE}{more}", model.config()));
    (sandbox, model)
}

fn run(sandbox: &Sandbox, words: &[&str]) -> Ran {
    ran(forklore(sandbox, words))
}

/// Returns the exit code and the last line of the output.
fn json_of(sandbox: &Sandbox, words: &[&str]) -> (i32, Value) {
    let ran = run(sandbox, &[&["--json"], words].concat());
    let last = ran.out.lines().last().unwrap_or_default();
    (ran.code, serde_json::from_str(last).unwrap_or_else(|_| panic!("{ran:?}")))
}

#[test]
fn a_turn_ends_before_the_next_request_and_sub_agents_count() {
    let more = "[delegate]\ndepth = 1\n[policy]\nallow = ['delegate']\n";
    let (sandbox, model) = priced(&[TASK, Answer::Says("my part"), Answer::Says("all")], more);
    let (code, answer) = json_of(&sandbox, &["chat", "-p", "share it", "--max-cost", "1.5"]);
    let why = "the budget --max-cost of 1.5 USD is used up: 2 USD";
    assert_eq!((code, model.bodies().len()), (7, 2), "{answer:#}");
    assert_eq!(answer["status"], json!({"incomplete": why}));
    assert_eq!(
        (&answer["ok"], &answer["error"]["kind"]),
        (&json!(false), &json!("budget_exceeded"))
    );
    assert_eq!(answer["error"]["message"], format!("the turn was cut short: {why}"));
    // What was answered is stored, and another run goes on from there.
    let log = run(&sandbox, &["log", "last", "--json"]).out;
    assert!(log.contains("my part"), "{log}");
    let words = ["resume", "last", "--continue", "--max-cost", "1"];
    let (code, answer) = json_of(&sandbox, &words);
    assert_eq!((code, &answer["text"], model.bodies().len()), (0, &json!("all"), 3), "{answer:#}");
    let ran = run(&sandbox, &["resume", "last", "-p", "more", "--max-cost", "0.001"]);
    assert_eq!((ran.code, &*ran.out), (0, "done\n"));
}

#[test]
fn a_budget_in_money_needs_a_price() {
    let sandbox = Sandbox::new();
    let model = Scripted::with_usage(&[]);
    sandbox.file("config.toml", &model.config());
    for words in [
        &["chat", "-p", "hello", "--max-cost", "1"][..],
        &["chat", "-p", "hello", "-c", "budget.per_day=1"],
        &["chat", "-p", "hello", "-c", "budget.per_session=1"],
    ] {
        let (code, answer) = json_of(&sandbox, words);
        let message = answer["error"]["message"].as_str().unwrap();
        assert_eq!((code, &answer["error"]["kind"]), (2, &json!("invalid_args")));
        let why = "the model scripted has no price, so no budget in money can be held for it";
        assert!(message.contains(why), "{message}");
    }
    assert!(model.bodies().is_empty() && !sandbox.store().exists());
    // A budget of tokens needs none.
    let words = ["chat", "-p", "hello", "-c", "budget.tokens_per_day=100"];
    assert_eq!(json_of(&sandbox, &words).0, 0);
    let (code, answer) = json_of(&sandbox, &words);
    assert_eq!((code, model.bodies().len()), (7, 1), "{answer:#}");
    let why = "the budget budget.tokens_per_day of 100 tokens is used up: 110 tokens";
    assert_eq!(answer["status"], json!({"incomplete": why}));
}

#[test]
fn a_session_and_a_day_have_budgets() {
    let more = "[budget]\nper_session = 1\nper_day = 3\n";
    let (sandbox, model) = priced(&[], more);
    let code = |words: &[&str]| (json_of(&sandbox, words).0, model.bodies().len());
    assert_eq!(code(&["chat", "-p", "one"]), (0, 1));
    assert_eq!(code(&["resume", "last", "-p", "two"]), (7, 1));
    // A fork is a session of its own.
    sandbox.ok(&["fork", "last", "--all", "--label", "b"]);
    assert_eq!(code(&["resume", "@b", "--all", "-p", "two"]), (0, 2));
    assert_eq!(code(&["chat", "-p", "three"]), (0, 3));
    let (refused, answer) = json_of(&sandbox, &["chat", "-p", "four"]);
    assert_eq!((refused, model.bodies().len()), (7, 3));
    let why = "the budget budget.per_day of 3 USD is used up: 3 USD";
    assert_eq!(answer["status"], json!({"incomplete": why}));
    // The settings of one run come before those of the file.
    assert_eq!(code(&["chat", "-p", "four", "-c", "budget.per_day=9"]), (0, 4));
}

#[test]
fn an_exploration_stops_too_and_shows_what_it_has() {
    let (sandbox, model) = priced(&[], "");
    assert_eq!(run(&sandbox, &["chat", "-p", "hello"]).code, 0);
    let words = ["explore", "last", "and?", "-n", "4", "--jobs", "1", "--max-cost", "2"];
    let (code, answer) = json_of(&sandbox, &words);
    assert_eq!((code, model.bodies().len()), (7, 3), "{answer:#}");
    let tries = answer["tries"].as_array().unwrap();
    let states: Vec<_> = tries.iter().map(|one| one["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["done", "done", "interrupted", "interrupted"]);
    let why = "the budget --max-cost of 2 USD is used up: 2 USD";
    assert_eq!(tries[3]["error"], why);
    assert_eq!(answer["error"]["message"], why);
}

#[test]
fn a_server_that_reports_no_tokens_gets_one_request() {
    let sandbox = Sandbox::new();
    let model = Scripted::start(&[Answer::Says("one")]);
    sandbox.file("config.toml", &format!("{}{PRICE}", model.config()));
    let words = ["explore", "last", "and?", "-n", "3", "--jobs", "1", "--max-cost", "9"];
    assert_eq!(run(&sandbox, &["chat", "-p", "hello"]).code, 0);
    let (code, answer) = json_of(&sandbox, &words);
    let why = "the server does not report tokens, so the budget --max-cost of 9 USD cannot be held";
    assert_eq!((code, model.bodies().len()), (7, 2), "{answer:#}");
    assert_eq!(answer["tries"][1]["error"], why);
}

#[test]
fn what_is_no_amount_is_refused() {
    let (sandbox, model) = priced(&[], "");
    for wrong in ["0", "-1", "nan", "inf", "1e999", "much", ""] {
        let (code, answer) = json_of(&sandbox, &["chat", "-p", "hello", "--max-cost", wrong]);
        assert_eq!((code, &answer["error"]["kind"]), (2, &json!("invalid_args")), "{answer:#}");
        if wrong != "much" && !wrong.is_empty() {
            let setting = format!("budget.per_day={wrong}");
            let (code, answer) = json_of(&sandbox, &["chat", "-p", "hello", "-c", &setting]);
            assert_eq!((code, &answer["error"]["kind"]), (2, &json!("invalid_args")), "{answer:#}");
        }
    }
    assert!(model.bodies().is_empty());
}

#[test]
fn a_conversation_says_that_its_budget_is_used_up() {
    let (sandbox, model) = priced(&[Answer::Says("one")], "");
    let terminal = Terminal::start(&sandbox, "budget", &["chat", "--max-cost", "1"]);
    terminal.ready("main>");
    assert!(terminal.line("hello", "main>").contains("one"));
    let why = "cut short: the budget --max-cost of 1 USD is used up: 1 USD";
    for line in ["and?", "/continue"] {
        let screen = terminal.line(line, "main>");
        assert!(screen.contains(why), "{screen}");
    }
    assert_eq!(model.bodies().len(), 1);
}
