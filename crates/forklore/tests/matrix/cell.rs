//! A cell of the matrix: one verb in one state, over every store.

use std::collections::BTreeMap;

use forklore::api::LogRange;
use forklore::core::SessionId;
use forklore::{Engine, Error};
use serde_json::Value;

use crate::state::{STATES, State, id};
use crate::test_store::{Kind, TestStore};
use crate::verb::{Effect, Verb};

/// The logs of all sessions. Each is the printed log, or the kind of the error that the read of the
/// log returned.
type Logs = BTreeMap<SessionId, Result<Vec<u8>, String>>;

/// Executes a verb in every state over every store. Returns one line for each state.
pub(crate) fn rows(verb: &Verb) -> String {
    let mut rows = String::new();
    for state in STATES {
        let kinds = Kind::ALL.iter().copied().filter(|kind| state.exists_on(*kind));
        let cells: Vec<_> = kinds.map(|kind| (kind, execute(verb, state, kind))).collect();
        if state.needs_disk {
            // Each kind of store retains other data of a vanished session, so the line has the
            // outcome for every kind.
            let outcomes = cells.iter().map(|(kind, cell)| format!("{kind:?} {}", outcome(cell)));
            rows.push_str(&format!(
                "{}: {}\n",
                state.name,
                outcomes.collect::<Vec<_>>().join(", ")
            ));
            continue;
        }
        let (first_kind, first) = cells.first().unwrap();
        for (kind, cell) in &cells {
            let what = format!("{}, {}: {first_kind:?} against {kind:?}", verb.name, state.name);
            assert_eq!(first, cell, "{what}");
        }
        rows.push_str(&format!("{}: {}\n", state.name, outcome(first)));
    }
    rows
}

type Answer = Result<Value, (String, String)>;

fn execute(verb: &Verb, state: &State, kind: Kind) -> (Answer, Answer) {
    let store = TestStore::new(kind);
    let session = (state.build)(&store);
    let problems = problems(&store.engine);
    let mut last = logs(&store.engine);
    let mut call = |engine: &Engine| {
        let answer =
            (verb.run)(engine, &session, &store).map(scrubbed).map_err(|error| refusal(&error));
        let now = logs(&store.engine);
        let cell = format!("{}, {}, {kind:?}", verb.name, state.name);
        check(&cell, verb, &session, &answer, &last, &now);
        last = now;
        answer
    };
    let answers = (call(&store.engine), call(&store.another_handle()));
    let left = self::problems(&store.engine);
    let vanished = !problems.is_empty();
    assert!(vanished || left.is_empty(), "{}, {}, {kind:?}: {left:?}", verb.name, state.name);
    answers
}

/// Returns the logs of the sessions that the states create, and of those that the verbs create.
fn logs(engine: &Engine) -> Logs {
    let names = ["root", "branch", "twig", "other", "helper", "child"];
    let mut sessions: Vec<_> = names.map(id).into();
    let request = forklore::api::ListRequest { limit: 100, ..Default::default() };
    if let Ok(listing) = engine.list(&request) {
        sessions.extend(listing.sessions.into_iter().map(|header| header.id));
    }
    let printed = |session: &SessionId| {
        let mut log = Vec::new();
        engine.log(session, LogRange::default(), &mut log).map_err(|error| refusal(&error).0)?;
        Ok(log)
    };
    sessions.into_iter().map(|session| (session.clone(), printed(&session))).collect()
}

fn problems(engine: &Engine) -> Vec<String> {
    match engine.verify(None) {
        Ok(found) => found.problems.iter().map(|problem| problem.message.clone()).collect(),
        Err(error) => vec![error.to_string()],
    }
}

/// Compares the logs before and after a verb. A log may change only as [`Effect`] says; a new
/// session may appear.
fn check(cell: &str, verb: &Verb, session: &SessionId, answer: &Answer, before: &Logs, now: &Logs) {
    let deleted = |id: &SessionId| {
        let ids = answer.as_ref().ok().and_then(|answer| answer["deleted"].as_array());
        ids.is_some_and(|ids| ids.iter().any(|deleted| deleted == id.as_str()))
    };
    for (id, log) in before {
        let after = now.get(id);
        let same = after == Some(log);
        let allowed = match (verb.effect, log, after) {
            (Effect::Appends, Ok(log), Some(Ok(after))) => id == session && after.starts_with(log),
            (Effect::AppendsToTheRoot, Ok(log), Some(Ok(after))) => {
                id.as_str() == "root" && after.starts_with(log)
            }
            (Effect::BringsBack, Err(kind), Some(Ok(_))) => id == session && kind == "not_found",
            (Effect::Deletes, _, None | Some(Err(_))) => deleted(id),
            (Effect::Creates, Err(kind), Some(Ok(_))) => {
                id.as_str() == "child" && kind == "not_found"
            }
            _ => false,
        };
        let text = |log: Option<&Result<Vec<u8>, String>>| match log {
            Some(Ok(log)) => String::from_utf8_lossy(log).into_owned(),
            other => format!("{other:?}"),
        };
        assert!(same || allowed, "{cell}: {id} was\n{}\nand is\n{}", text(Some(log)), text(after));
    }
}

/// Returns the kind of an error, and its details as JSON text.
fn refusal(error: &Error) -> (String, String) {
    let kind = serde_json::to_value(error.kind()).unwrap();
    (kind.as_str().unwrap_or_default().to_owned(), error.details().to_string())
}

/// Removes the fields of an answer that depend on the time or on how a store arranges its bytes.
fn scrubbed(mut value: Value) -> Value {
    const VARYING: [&str; 9] = [
        "created",
        "updated",
        "own_bytes",
        "bytes",
        "kept_segments",
        "segments",
        "expires",
        "stored_bytes",
        "time",
    ];
    match &mut value {
        Value::Object(fields) => {
            VARYING.iter().for_each(|name| drop(fields.remove(*name)));
            fields.values_mut().for_each(|field| *field = scrubbed(field.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = scrubbed(item.take())),
        _ => {}
    }
    value
}

/// Returns the outcome of a verb in words, and also the outcome of its repetition if that differs.
fn outcome((once, again): &(Answer, Answer)) -> String {
    let (once, again) = (brief(once), brief(again));
    if once == again { once } else { format!("{once}; again: {again}") }
}

fn brief(answer: &Answer) -> String {
    match answer {
        Ok(answer) if answer["existing"] == true => "the existing one".to_owned(),
        Ok(answer) if answer["repeated"] == true => "a repetition".to_owned(),
        Ok(answer) => match answer["problems"].as_array() {
            Some(problems) if !problems.is_empty() => format!("ok, {} problems", problems.len()),
            _ => "ok".to_owned(),
        },
        Err((kind, details)) => {
            let details: Value = serde_json::from_str(details).unwrap_or_default();
            match details["reason"].as_str() {
                Some(reason) => format!("{kind} ({reason})"),
                None => kind.clone(),
            }
        }
    }
}
