//! Tests of invalid requests: each error names the path of the invalid value.

use forklore_api::event::Notification;
use forklore_api::{
    Attach, Discovery, Exploration, ExportTo, Imported, QueryAnswer, Request, RequestPreview,
    SessionFiles, TurnAnswer, WatchLine, read,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Returns a valid request for every verb.
pub(crate) fn requests() -> Vec<Value> {
    let id = "plan-1";
    vec![
        json!({"new": {"workspace": "/demo", "title": "Plan", "label": "main"}}),
        json!({"append": {"session_id": id, "batch": {
            "events": [{"type": "user_message", "data": {"content": "x"}}], "expect": -1}}}),
        json!({"list": {"workspace": "/demo", "limit": 5}}),
        json!({"show": {"session_id": id}}),
        json!({"label": {"session_id": id, "label": "other"}}),
        json!({"rename": {"session_id": id, "title": "Other"}}),
        json!({"log": {"session_id": id, "range": {"from": 0, "own": true}}}),
        json!({"replay": {"session_id": id, "from": "message:1", "up_to": "turn:1", "last": 2}}),
        json!({"inspect": {"session_id": id}}),
        json!({"fork": {"parent_session_id": id, "at": "turn:1", "dry_run": true}}),
        json!({"tree": {"session_id": id}}),
        json!({"branches": {"session_id": id}}),
        json!({"lineage": {"session_id": id}}),
        json!({"diff": {"a": id, "b": "plan-2"}}),
        json!({"diff_stat": {"a": id, "b": "plan-2"}}),
        json!({"bring": {"from_session_id": id, "into_session_id": "plan-2",
            "part": {"start": 1, "end": 2}}}),
        json!({"attachments": {"session_id": id}}),
        json!({"detach": {"session_id": id}}),
        json!({"delete": {"session_id": id, "mode": "cascade"}}),
        json!({"undelete": {"session_id": id, "cascade": true}}),
        json!({"redact": {"events": ["plan-1:3"], "session_ids": [id], "match": "a", "regex": true,
            "reason": "a key", "dry_run": true}}),
        json!({"operations": {"before": 7, "limit": 3}}),
        json!({"operation": {"operation": 7}}),
        json!({"undo": {"operation": 7, "partial": true}}),
        json!({"stats": {"scope": {"family": id}, "models": true}}),
        json!({"verify": {"session_id": id}}),
        json!({"gc": {}}),
        json!({"pack": {"idle_days": 30}}),
        json!({"attach": {"session_id": id,
            "attachment": {"name": "plan.png", "media_type": "image/png", "limit": 9}}}),
        json!({"read_attachment": {"session_id": id, "ref": "plan.png", "path": "again.png"}}),
        json!({"import": {"paths": ["/demo/a.jsonl"], "dialect": "pi", "workspace": "/demo",
            "again": true}}),
        json!({"discover": {}}),
        json!({"preview": {"session_id": id, "model": "local", "fork_at": "turn:1",
            "without_tools": true, "count": true}}),
        json!({"explore": {"session_id": id, "at": "turn:1", "prompts": ["a"], "models": ["local"],
            "n": 2, "judge": "wc -c", "judge_timeout_seconds": 5, "label": "try", "jobs": 1}}),
        json!({"export": {"session_id": id, "to": {"dialect": "pi", "at": "turn:1", "cwd": "/demo"},
            "path": "a.jsonl"}}),
        json!({"resume_in": {"session_id": id, "to": {"dialect": "pi"}, "home": "/agents/pi",
            "share": true, "dry_run": true}}),
        json!({"restore": {"session_id": id, "file": "a/b.txt", "revision": 1, "path": "b.txt"}}),
        json!({"restore_all": {"session_id": id, "path": "folder"}}),
        json!({"files": {"session_id": id}}),
        json!({"graph": {"scope": {"family": id}, "format": "nquads", "path": "a.nq"}}),
        json!({"vocabulary": {"part": "shapes"}}),
        json!({"sparql": {"query": "ASK { ?a ?b ?c }", "scope": {"workspace": "/demo"},
            "parameters": [{"name": "a", "value": "7"}], "limit": 10, "timeout_seconds": 0.5}}),
        json!({"search": {"query": "plan b*", "workspace": "/demo", "agent": "pi", "role": "tool",
            "tool": "read", "kind": "call", "since": "2026-01-01T00:00:00Z", "limit": 5}}),
        json!({"blame": {"path": "/demo/a.rs", "since": "2026-01-01T00:00:00Z", "limit": 5}}),
        json!({"repair": {"store": "saved.db"}}),
        json!({"backup": {"path": "saved.db"}}),
        json!({"restore_store": {"from": "saved.db", "store": "sqlite:new.db"}}),
        json!({"verify_sample": {"size": {"sessions": 5}, "seed": 7}}),
        json!({"apply_retention": {"policy": {"delete_after_days": 9}, "dry_run": true}}),
        json!({"doctor": {}}),
        json!({"turn": {"session_id": id, "title": "Plan", "workspace": "/demo", "model": "local",
            "prompt": "plan A or plan B?", "attach": ["a.png"], "wait_seconds": 5}}),
    ]
}

fn verb(request: &Value) -> String {
    request.as_object().unwrap().keys().next().unwrap().clone()
}

/// Returns the path in the error of parsing this invalid request.
fn path_of(request: &Value) -> String {
    let error = read::<Request>(&request.to_string()).expect_err(&request.to_string());
    assert!(error.to_string().starts_with(error.path()), "{error}");
    error.path().to_owned()
}

/// Collects the JSON pointer of every object in a request.
fn objects(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            found.push(at.to_owned());
            for (name, value) in fields {
                objects(value, &format!("{at}/{name}"), found);
            }
        }
        Value::Array(items) => {
            for (at_item, value) in items.iter().enumerate() {
                objects(value, &format!("{at}/{at_item}"), found);
            }
        }
        _ => {}
    }
}

/// Converts a JSON pointer to the path syntax of the error.
fn encoded(pointer: &str) -> String {
    let mut path = String::new();
    for part in pointer.split('/').filter(|part| !part.is_empty()) {
        if part.bytes().all(|byte| byte.is_ascii_digit()) {
            path = format!("{path}[{part}]");
        } else if path.is_empty() {
            part.clone_into(&mut path);
        } else {
            path = format!("{path}.{part}");
        }
    }
    path
}

#[test]
fn every_verb_is_read_and_written_back() {
    for request in requests() {
        let read_once: Request = read(&request.to_string()).unwrap();
        let text = serde_json::to_string(&read_once).unwrap();
        assert_eq!(read::<Request>(&text).unwrap(), read_once, "{request}");
    }
}

#[test]
fn an_unknown_field_is_named_where_it_stands() {
    for request in requests() {
        let mut locations = Vec::new();
        objects(&request[verb(&request)], &format!("/{}", verb(&request)), &mut locations);
        for location in locations.iter().filter(|position| !position.ends_with("/data")) {
            if ["/part", "/scope", "/size"].iter().any(|name| location.ends_with(name)) {
                continue;
            }
            let mut bad = request.clone();
            bad.pointer_mut(location).unwrap()["colour"] = json!("green");
            assert_eq!(path_of(&bad), encoded(&format!("{location}/colour")), "{bad}");
        }
    }
}

#[test]
fn a_missing_field_is_named_with_the_object_that_lacks_it() {
    let needed = [
        ("new", "workspace"),
        ("append", "session_id"),
        ("append", "batch"),
        ("show", "session_id"),
        ("label", "label"),
        ("rename", "session_id"),
        ("log", "session_id"),
        ("replay", "session_id"),
        ("inspect", "session_id"),
        ("fork", "parent_session_id"),
        ("branches", "session_id"),
        ("lineage", "session_id"),
        ("diff", "b"),
        ("diff_stat", "a"),
        ("bring", "into_session_id"),
        ("attachments", "session_id"),
        ("detach", "session_id"),
        ("delete", "session_id"),
        ("undelete", "session_id"),
        ("operation", "operation"),
        ("stats", "scope"),
        ("pack", "idle_days"),
        ("attach", "session_id"),
        ("read_attachment", "ref"),
        ("import", "paths"),
        ("import", "workspace"),
        ("preview", "session_id"),
        ("explore", "prompts"),
        ("export", "to"),
        ("resume_in", "to"),
        ("restore", "session_id"),
        ("restore_all", "path"),
        ("files", "session_id"),
        ("graph", "scope"),
        ("vocabulary", "part"),
        ("sparql", "scope"),
        ("search", "query"),
        ("blame", "path"),
        ("repair", "store"),
        ("backup", "path"),
        ("restore_store", "from"),
        ("verify_sample", "size"),
        ("turn", "workspace"),
    ];
    for (verb_name, field) in needed {
        let mut bad = requests().into_iter().find(|request| verb(request) == verb_name).unwrap();
        bad[verb_name].as_object_mut().unwrap().remove(field).unwrap();
        let error = read::<Request>(&bad.to_string()).unwrap_err();
        assert_eq!(error.path(), verb_name, "{error}");
        assert!(error.to_string().contains(&format!("missing field `{field}`")), "{error}");
    }
    let bad = json!({"append": {"session_id": "s", "batch": {"events": [{"type": "x.a"}]}}});
    assert_eq!(path_of(&bad), "append.batch.events[0]");
    let bad = json!({"export": {"session_id": "s", "to": {"at": "end"}}});
    assert_eq!(path_of(&bad), "export.to");
    let bad =
        json!({"sparql": {"query": "", "scope": "everything", "parameters": [{"name": "a"}]}});
    assert_eq!(path_of(&bad), "sparql.parameters[0]");
}

#[test]
fn a_value_of_another_type_is_named() {
    for request in requests() {
        let verb = verb(&request);
        for (field, value) in request[&verb].as_object().unwrap() {
            let mut bad = request.clone();
            bad[&verb][field] = match value {
                Value::Bool(_) => json!("yes"),
                Value::Number(_) => json!("many"),
                Value::String(_) => json!(["a"]),
                _ => json!(7),
            };
            let path = path_of(&bad);
            assert!(path.starts_with(&format!("{verb}.{field}")), "{path}: {bad}");
        }
    }
}

#[test]
fn a_huge_value_is_named() {
    let long = "x".repeat(1_000_000);
    let cases = [
        (json!({"show": {"session_id": long}}), "show.session_id"),
        (json!({"label": {"session_id": "s", "label": long}}), "label.label"),
        (json!({"fork": {"parent_session_id": "s", "at": format!("event:{long}")}}), "fork.at"),
        (json!({"fork": {"parent_session_id": "s", "id": long}}), "fork.id"),
        (json!({"pack": {"idle_days": 4_294_967_296_u64}}), "pack.idle_days"),
        (json!({"list": {"limit": -1}}), "list.limit"),
        (json!({"log": {"session_id": "s", "range": {"from": 1e300}}}), "log.range.from"),
        (
            json!({"append": {"session_id": "s", "batch": {"events": [
                {"type": "x.a", "data": 1}, {"type": long, "data": 1}]}}}),
            "append.batch.events[1].type",
        ),
        (
            json!({"append": {"session_id": "s", "batch": {"events": [
                {"type": "x.a", "data": 1, "id": long}]}}}),
            "append.batch.events[0].id",
        ),
        (json!({"new": {"workspace": "/d", "id": long}}), "new.id"),
        (
            json!({"attach": {"session_id": "s", "attachment": {"limit": -1}}}),
            "attach.attachment.limit",
        ),
        (
            json!({"export": {"session_id": "s", "to": {"dialect": "pi", "at": long}}}),
            "export.to.at",
        ),
        (json!({"explore": {"session_id": "s", "prompts": [], "jobs": 0}}), "explore.jobs"),
        (json!({"graph": {"scope": {"family": long}}}), "graph.scope.family"),
        (json!({"graph": {"scope": "everything", "format": "xml"}}), "graph.format"),
        (json!({"turn": {"workspace": "/d", "session_id": long}}), "turn.session_id"),
    ];
    for (request, path) in cases {
        assert_eq!(path_of(&request), path);
        let error = read::<Request>(&request.to_string()).unwrap_err().to_string();
        assert!(error.len() < 1_000, "it does not repeat what was sent: {} bytes", error.len());
    }
    let deep = format!("{{\"discover\": {}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    assert_eq!(read::<Request>(&deep).unwrap_err().path(), "discover");
}

#[test]
fn errors_in_other_bodies_name_their_paths_too() {
    assert_eq!(read::<Attach>(r#"{"media": "x"}"#).unwrap_err().path(), "media");
    assert_eq!(read::<Attach>(r#"{"limit": "x"}"#).unwrap_err().path(), "limit");
    assert_eq!(read::<ExportTo>(r#"{"dialect": "pi", "at": "up"}"#).unwrap_err().path(), "at");
    assert_eq!(read::<ExportTo>("{}").unwrap_err().path(), ".");
    assert_eq!(read::<ExportTo>("{").unwrap_err().path(), ".");
    assert_eq!(read::<Attach>("{} {}").unwrap_err().path(), ".");
    assert_eq!(read::<Request>(r#"{"sing": {}}"#).unwrap_err().path(), ".");
}

/// Returns the path in the error of parsing this invalid answer.
fn path_in<T: DeserializeOwned>(text: &str) -> String {
    let error = read::<T>(text).map(drop).expect_err(text);
    error.path().to_owned()
}

#[test]
fn errors_in_answers_name_their_paths() {
    let imported = r#"{"files":1,"sessions":[{"session_id":"a","dialect":"pi","events":"many"}]}"#;
    assert_eq!(path_in::<Imported>(imported), "sessions[0].events");
    let problem = r#"{"files":0,"sessions":[],"unchanged":0,"skipped":0,
        "beside":{"files":0,"unchanged":0,"bytes":0},
        "problems":[{"path":"a","kind":"boredom","message":"m"}]}"#;
    assert_eq!(path_in::<Imported>(problem), "problems[0].kind");
    assert_eq!(path_in::<Discovery>(r#"{"agents":[{"agent":"Pi"}]}"#), "agents[0]");
    assert_eq!(path_in::<SessionFiles>(r#"{"files":[{"name":7}]}"#), "files[0].name");
    assert_eq!(path_in::<Exploration>(r#"{"tries":[{"state":"bored"}]}"#), "tries[0].state");
    assert_eq!(path_in::<TurnAnswer>(r#"{"status":"bored"}"#), "status");
    assert_eq!(path_in::<RequestPreview>(r#"{"tokens":{"count":-1}}"#), "tokens.count");
    assert_eq!(path_in::<QueryAnswer>(r#"{"results":{"bindings":{}}}"#), "results.bindings");
    // The tag `event` decides how the other fields are read, so an error in those fields names the
    // whole line.
    assert_eq!(path_in::<WatchLine>(r#"{"event":"bored"}"#), "event");
    assert_eq!(path_in::<WatchLine>(r#"{"event":"stopped","files":1}"#), ".");
    assert_eq!(path_in::<Notification>(r#"{"event":"bored","session_id":"a"}"#), ".");
}
