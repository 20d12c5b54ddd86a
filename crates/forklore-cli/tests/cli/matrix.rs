//! Runs every command on a session in every state: twice at once in two processes, and once stopped
//! by Ctrl-C and then repeated.
//!
//! Each combination of a command, a state and a store is a cell of this matrix. The matrix of the
//! crate `forklore` executes verbs one after the other. This matrix executes commands of the
//! program, over an SQLite store and over a files store. It first executes each command twice in a
//! row, and then compares:
//!
//! - Of two processes at once, each gets one of the two answers of the executions in a row, or is
//!   refused with `busy` or `conflict`. At least one process is not refused.
//! - A process that Ctrl-C stops gives the first of the two answers, or `interrupted`. The
//!   repetition gives one of the two answers.
//! - If all four executions succeed, the two processes leave as many sessions, with as many events,
//!   as the two executions in a row.
//! - Afterwards, `verify` finds no problem, and the command changed only those logs that it may
//!   change.

mod command;
mod state;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use forklore::api::{ListRequest, LogRange};
use forklore::core::{Header, SessionKind};
use rustix::process::Signal;
use serde_json::Value;

use self::command::{Command, Effect};
use self::state::{Environment, KINDS, STATES, State};
use crate::sandbox::of;
use crate::signals::send;

/// The logs of all sessions by their ids.
type Logs = BTreeMap<String, String>;

/// What a process answered: success, or the kind of the error.
type Outcome = Result<(), String>;

/// Creates one test for each command, so that a failure names the command.
macro_rules! tests_of {
    ($($command:ident),* $(,)?) => {
        $(#[test] fn $command() { execute(&command::$command()); })*
        #[test]
        fn the_matrix_has_at_least_four_hundred_cells() {
            let commands = [$(stringify!($command)),*].len();
            assert!(commands * STATES.len() * 2 >= 400, "{commands} commands");
        }
    };
}

tests_of! {
    show, log, replay, inspect, tree, lineage, stats, search, blame, export, verify,
    append, fork, fork_with_a_summary, fork_a_copy, delegate, label, rename, bring, detach, attach,
    delete, delete_the_family_below, delete_and_detach_children,
    erase, undelete, redact, undo, list_operations, gc, gc_of_the_trash, pack,
    import, resume, resume_in_codex,
}

#[cfg(feature = "graph")]
#[test]
fn sparql() {
    execute(&command::sparql());
}

fn execute(command: &Command) {
    for kind in KINDS {
        for state in STATES {
            let origin = Environment::new(kind, state);
            let alone = origin.copy();
            assert!(logs(&alone).contains_key("it"), "{}", state.name);
            let answers = [run(&alone, command), run(&alone, command)];
            together(&origin.copy(), command, state, &answers, &lengths(&logs(&alone)));
            interrupted(&origin.copy(), command, state, &answers);
        }
    }
}

/// Executes the command in two processes at once. `answers` and `lengths` are the answers and the
/// lengths of the logs after the command was executed twice in a row.
fn together(
    environment: &Environment,
    command: &Command,
    state: &State,
    answers: &[Outcome; 2],
    lengths: &[usize],
) {
    let cell = format!("{} beside itself, {}, {}", command.name, state.name, environment.url());
    let before = logs(environment);
    let processes = [start(environment, command), start(environment, command)];
    let outcomes = processes.map(outcome);
    for outcome in &outcomes {
        let refused = matches!(outcome, Err(kind) if kind == "busy" || kind == "conflict");
        assert!(refused || answers.contains(outcome), "{cell}: {outcomes:?}, alone {answers:?}");
    }
    assert!(outcomes.iter().any(|outcome| answers.contains(outcome)), "{cell}: {outcomes:?}");
    if outcomes.iter().chain(answers).all(Result::is_ok) {
        assert_eq!(self::lengths(&logs(environment)), lengths, "{cell}: the events of each log");
    }
    check(&cell, command, environment, &before);
}

/// Stops the command by Ctrl-C as soon as it has opened the store, and repeats the command.
/// `answers` are the answers of two executions in a row.
fn interrupted(
    environment: &Environment,
    command: &Command,
    state: &State,
    answers: &[Outcome; 2],
) {
    let cell = format!("{} interrupted, {}, {}", command.name, state.name, environment.url());
    let before = logs(environment);
    let mut process = start(environment, command);
    while process.try_wait().unwrap().is_none() && !has_opened(&process, &environment.folder()) {
        std::thread::yield_now();
    }
    if process.try_wait().unwrap().is_none() {
        send(process.id(), Signal::INT);
    }
    let stopped = outcome(process);
    let allowed = [answers[0].clone(), Err("interrupted".into())];
    assert!(allowed.contains(&stopped), "{cell}: {stopped:?}, alone {answers:?}");
    check(&cell, command, environment, &before);
    let repeated = run(environment, command);
    assert!(answers.contains(&repeated), "{cell}: repeated {repeated:?}, alone {answers:?}");
    check(&cell, command, environment, &before);
}

/// Checks whether a process has opened a file below a folder.
fn has_opened(process: &Child, folder: &Path) -> bool {
    let Ok(open) = fs::read_dir(format!("/proc/{}/fd", process.id())) else { return false };
    open.flatten().any(|file| fs::read_link(file.path()).is_ok_and(|path| path.starts_with(folder)))
}

fn start(environment: &Environment, command: &Command) -> Child {
    let mut process = environment.command(command.words);
    process.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn run(environment: &Environment, command: &Command) -> Outcome {
    outcome(start(environment, command))
}

/// Waits for a process and returns its outcome. The outcome is `interrupted` if a signal ended the
/// process.
fn outcome(process: Child) -> Outcome {
    let ran = of(&process.wait_with_output().unwrap());
    match ran.code {
        0 => Ok(()),
        -1 | 130 => Err("interrupted".into()),
        _ => {
            let answer: Value = serde_json::from_str(ran.out.lines().last().unwrap_or_default())
                .unwrap_or_else(|error| panic!("{error}: {ran:?}"));
            Err(answer["error"]["kind"].as_str().unwrap().to_owned())
        }
    }
}

/// Returns the logs of all sessions that are not deleted.
fn logs(environment: &Environment) -> Logs {
    let engine = environment.engine();
    // A list without a kind leaves out delegates, so list them separately.
    let kinds = [None, Some(SessionKind::Delegate)];
    let headers = kinds.into_iter().flat_map(|kind| {
        engine.list(&ListRequest { kind, ..ListRequest::default() }).unwrap().sessions
    });
    let log = |header: Header| {
        let mut lines = Vec::new();
        engine.log(&header.id, LogRange::default(), &mut lines).unwrap();
        (header.id.to_string(), String::from_utf8(lines).unwrap())
    };
    headers.map(log).collect()
}

/// Returns the numbers of events in the logs, in ascending order.
fn lengths(logs: &Logs) -> Vec<usize> {
    let mut lengths: Vec<_> = logs.values().map(|log| log.lines().count()).collect();
    lengths.sort_unstable();
    lengths
}

/// Checks whether a log is as before, except that some events are redacted.
fn is_redacted(before: &str, after: &str) -> bool {
    let is_one = |(before, after): (&str, &str)| {
        let begins = |line: &str| line.split(",\"data\":").next().map(str::to_owned);
        before == after
            || (begins(before) == begins(after) && after.contains(",\"data\":{\"redacted\":{"))
    };
    before.lines().count() == after.lines().count() && before.lines().zip(after.lines()).all(is_one)
}

/// Checks that nothing is damaged, and that the command changed only those logs that it may change.
/// `before` has the logs before the command, and `cell` names the cell in a failure.
fn check(cell: &str, command: &Command, environment: &Environment, before: &Logs) {
    let found = environment.engine().verify(None).unwrap();
    assert!(found.problems.is_empty(), "{cell}: {:?}", found.problems);
    let now = logs(environment);
    for (id, log) in before {
        let allowed = match now.get(id) {
            Some(after) if after == log => true,
            Some(after) if command.effect == Effect::Redacts => is_redacted(log, after),
            Some(after) => command.effect.appends_to(id) && after.starts_with(log),
            None => command.effect == Effect::Deletes,
        };
        assert!(allowed, "{cell}: {id} was\n{log}\nand is\n{:?}", now.get(id));
    }
}
