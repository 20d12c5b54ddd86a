//! The saver over stores, with requests as a saver of any language writes them.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use forklore_core::message::Content;
use forklore_core::workspace::Workspace;
use forklore_core::{ErrorKind, Header, SessionId};
use forklore_engine::Engine;
use forklore_langgraph::{Key, Saver};
use forklore_store::memory::MemoryStore;
use forklore_store::port::{
    Capabilities, Changes, Committed, Cursor, Filter, Headers, Page, Query, Since, Transaction,
    Verification,
};
use forklore_store::{Result, Store};
use serde_json::{Value, json};

fn engine() -> Engine {
    Engine::new(Arc::new(MemoryStore::default()))
}

fn saver(engine: &Engine) -> Saver {
    Saver::new(engine.clone(), Workspace::new("/work/demo"))
}

fn thread(id: &str) -> Value {
    json!({"thread_id": id, "checkpoint_ns": ""})
}

/// The text of a message.
fn text(content: &str) -> String {
    json!({"content": content}).to_string()
}

/// A request that stores a list of messages, of which the first `shared` are those of `base`.
fn put(id: &str, parent: Option<&str>, base: Option<(&str, usize)>, added: &[&str]) -> String {
    let keys: Vec<_> = added.iter().map(|it| Key::of(&text(it)).to_string()).collect();
    let elements: Vec<_> =
        added.iter().map(|it| json!({"kind": "user_message", "text": {"content": it}})).collect();
    json!({
        "thread": thread("t"),
        "id": id,
        "parent": parent,
        "fields": {"v": 1, "ts": "2026-01-02T03:04:05.000600+00:00"},
        "metadata": {"source": "loop", "run_id": format!("run-{id}")},
        "versions": {"messages": id},
        "seen": {"node": {"messages": id}},
        "values": {"messages": {"list": {"base": base, "add": keys}}},
        "elements": elements,
    })
    .to_string()
}

fn tuples(saver: &Saver, thread: &Value, ids: Option<&[&str]>) -> Vec<Value> {
    let answer = saver.get(&json!({"thread": thread, "ids": ids}).to_string()).unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    answer["tuples"].as_array().unwrap().clone()
}

/// Returns the messages of a checkpoint.
fn messages(saver: &Saver, thread: &Value, id: Option<&str>) -> Vec<String> {
    let ids = id.map(|id| vec![id]);
    let request = json!({"thread": thread, "ids": ids}).to_string();
    let answer: Value = serde_json::from_str(&saver.get(&request).unwrap()).unwrap();
    let runs = answer["tuples"][0]["values"]["messages"]["runs"].as_array().unwrap();
    let numbers: Vec<u64> = runs
        .iter()
        .flat_map(|run| (0..run[1].as_u64().unwrap()).map(|n| run[0].as_u64().unwrap() + n))
        .collect();
    let request = json!({
        "thread": thread, "generation": answer["generation"], "numbers": numbers,
    });
    let elements: Value =
        serde_json::from_str(&saver.elements(&request.to_string()).unwrap()).unwrap();
    let elements = elements[0].as_array().unwrap();
    elements.iter().map(|it| it["content"].as_str().unwrap().to_owned()).collect()
}

fn sessions(engine: &Engine) -> Vec<SessionId> {
    let all = engine.store().sessions(&Filter::default(), None, 0).unwrap().all().unwrap();
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by_key(|it| it.depth);
    all.into_iter().map(|it| it.id).collect()
}

fn conversation(engine: &Engine, session: &SessionId) -> Vec<String> {
    let records = engine.replay(session, None).unwrap();
    let contents = records.map(|record| match record.unwrap().content {
        Content::Text(text) => text,
        other @ Content::Parts(_) => format!("{other:?}"),
    });
    contents.collect()
}

#[test]
fn a_checkpoint_is_read_as_it_was_stored() {
    let engine = engine();
    let saver = saver(&engine);
    assert_eq!(saver.put(&put("1", None, None, &["a", "b"])).unwrap(), "{}");
    assert_eq!(saver.put(&put("2", Some("1"), Some(("1", 2)), &["c"])).unwrap(), "{}");
    for reader in [&saver, &self::saver(&engine)] {
        let found = tuples(reader, &thread("t"), None);
        assert_eq!(found[0]["id"], "2");
        assert_eq!(found[0]["parent"], "1");
        assert_eq!(found[0]["versions"], json!({"messages": "2"}));
        assert_eq!(found[0]["seen"], json!({"node": {"messages": "2"}}));
        let fields = json!({"v": 1, "ts": "2026-01-02T03:04:05.000600+00:00"});
        assert_eq!(found[0]["fields"], fields);
        assert_eq!(found[0]["metadata"], json!({"source": "loop", "run_id": "run-2"}));
        assert_eq!(messages(reader, &thread("t"), None), ["a", "b", "c"]);
        assert_eq!(messages(reader, &thread("t"), Some("1")), ["a", "b"]);
    }
    assert_eq!(sessions(&engine).len(), 1);
    assert_eq!(conversation(&engine, &sessions(&engine)[0]), ["a", "b", "c"]);
}

#[test]
fn versions_are_read_as_they_were_stored() {
    let engine = engine();
    let saver = saver(&engine);
    let x = json!({"text": "x"});
    let all = [
        // One version for all channels with values, then for some, then for another one too.
        (json!({"a": 1, "b": 1}), json!({"a": x, "b": x})),
        (json!({"a": 2, "b": 2}), json!({"a": x})),
        (json!({"a": 3, "b": 2, "c": 3}), json!({"a": {"text": "y"}, "c": x})),
        (json!({"a": 4, "b": 5, "c": 3}), json!({"a": x, "b": x, "c": x})),
        (json!({"a": 6, "b": 6, "c": 6}), json!({"a": {"text": "z"}, "c": x})),
        (json!({"a": 6, "b": 6}), json!({"a": {"text": "z"}})),
        (json!({}), json!({"a": {"text": "w"}})),
        (json!({"a": null}), json!({"a": {"text": "v"}})),
    ];
    for (number, (versions, values)) in all.iter().enumerate() {
        let parent = number.checked_sub(1).map(|it| it.to_string());
        let request = json!({
            "thread": thread("t"), "id": number.to_string(), "parent": parent, "fields": {"v": 1},
            "metadata": {}, "versions": versions, "seen": {}, "values": values, "elements": [],
        });
        assert_eq!(saver.put(&request.to_string()).unwrap(), "{}");
    }
    for reader in [&saver, &self::saver(&engine)] {
        for (number, (versions, values)) in all.iter().enumerate() {
            let found = &tuples(reader, &thread("t"), Some(&[&number.to_string()]))[0];
            assert_eq!(found["versions"], *versions, "{number}");
            let channels = |it: &Value| it.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
            assert_eq!(channels(&found["values"]), channels(values), "{number}");
        }
    }
}

#[test]
fn a_checkpoint_after_an_old_one_begins_a_fork() {
    let engine = engine();
    let saver = saver(&engine);
    saver.put(&put("1", None, None, &["a"])).unwrap();
    saver.put(&put("2", Some("1"), Some(("1", 1)), &["b"])).unwrap();
    saver.put(&put("3", Some("1"), Some(("2", 1)), &["c"])).unwrap();
    saver.put(&put("4", Some("3"), Some(("3", 2)), &["d"])).unwrap();
    let all = sessions(&engine);
    assert_eq!(all.len(), 2);
    assert_eq!(conversation(&engine, &all[0]), ["a", "b"]);
    assert_eq!(conversation(&engine, &all[1]), ["a", "c", "d"]);
    for reader in [&saver, &self::saver(&engine)] {
        assert_eq!(messages(reader, &thread("t"), None), ["a", "c", "d"]);
        assert_eq!(messages(reader, &thread("t"), Some("2")), ["a", "b"]);
        assert_eq!(tuples(reader, &thread("t"), Some(&["1", "x", "3"])).len(), 2);
    }
}

#[test]
fn a_message_that_comes_again_is_an_event_again() {
    let engine = engine();
    let saver = saver(&engine);
    saver.put(&put("1", None, None, &["a", "a"])).unwrap();
    saver.put(&put("2", Some("1"), Some(("1", 2)), &["b", "a"])).unwrap();
    assert_eq!(conversation(&engine, &sessions(&engine)[0]), ["a", "a", "b", "a"]);
    assert_eq!(messages(&saver, &thread("t"), None), ["a", "a", "b", "a"]);
}

#[test]
fn what_is_not_there_is_requested() {
    let engine = engine();
    let saver = saver(&engine);
    let needs = r#"{"needs":["messages"]}"#;
    assert_eq!(saver.put(&put("2", Some("1"), Some(("1", 2)), &["c"])).unwrap(), needs);
    saver.put(&put("1", None, None, &["a"])).unwrap();
    assert_eq!(saver.put(&put("2", Some("1"), Some(("1", 2)), &["c"])).unwrap(), needs);
    let unknown =
        put("2", Some("1"), None, &["c"]).replace(r#""elements":[{"#, r#""elements":[],"x":[{"#);
    assert_eq!(saver.put(&unknown).unwrap_err().kind(), ErrorKind::InvalidArgs);
    assert_eq!(tuples(&saver, &thread("t"), None)[0]["id"], "1");
}

#[test]
fn writes_are_applied_in_their_order_and_once() {
    let engine = engine();
    let saver = saver(&engine);
    let writes = |task: &str, path: &str, index: i64, value: &str| {
        json!({
            "thread": thread("t"), "checkpoint": "1", "task": task, "path": path,
            "writes": [{"index": index, "channel": "c", "text": value}], "elements": [],
        })
        .to_string()
    };
    saver.put_writes(&writes("b", "1", 0, "early")).unwrap();
    saver.put(&put("1", None, None, &["a"])).unwrap();
    saver.put_writes(&writes("a", "2", 0, "second")).unwrap();
    saver.put_writes(&writes("a", "2", 0, "ignored")).unwrap();
    saver.put_writes(&writes("a", "2", -1, "replaced")).unwrap();
    saver.put_writes(&writes("a", "2", -1, "error")).unwrap();
    let expected = json!([["b", "c", "early"], ["a", "c", "error"], ["a", "c", "second"]]);
    for reader in [&saver, &self::saver(&engine)] {
        assert_eq!(tuples(reader, &thread("t"), None)[0]["writes"], expected);
    }
}

#[test]
fn copies_outlive_their_thread() {
    let engine = engine();
    let saver = saver(&engine);
    saver.put(&put("1", None, None, &["a"])).unwrap();
    saver.put(&put("2", Some("1"), Some(("1", 1)), &["b"])).unwrap();
    saver.put(&put("3", Some("1"), Some(("1", 1)), &["c"])).unwrap();
    saver.copy_thread("t", "u").unwrap();
    assert_eq!(saver.copy_thread("t", "u").unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(saver.copy_thread("none", "v").unwrap_err().kind(), ErrorKind::NotFound);
    saver.delete_thread("t").unwrap();
    assert!(tuples(&saver, &thread("t"), None).is_empty());
    assert_eq!(messages(&saver, &thread("u"), Some("2")), ["a", "b"]);
    assert_eq!(messages(&saver, &thread("u"), Some("3")), ["a", "c"]);
    saver.put(&put("9", None, None, &["anew"])).unwrap();
    assert_eq!(messages(&saver, &thread("t"), None), ["anew"]);
}

/// A store in which another writer is faster: it writes before the next commit.
#[derive(Default)]
struct Overtaken {
    inner: Arc<MemoryStore>,
    faster: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Store for Overtaken {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn commit(&self, transaction: Transaction) -> Result<Committed> {
        if let Some(faster) = self.faster.lock().unwrap().take() {
            faster();
        }
        self.inner.commit(transaction)
    }

    fn header(&self, session: &SessionId) -> Result<Header> {
        self.inner.header(session)
    }

    fn read(&self, session: &SessionId, query: &Query) -> Result<Page> {
        self.inner.read(session, query)
    }

    fn sessions(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> Result<Headers> {
        self.inner.sessions(filter, after, limit)
    }

    fn changes(&self, since: &Since, limit: usize, wait: Duration) -> Result<Changes> {
        self.inner.changes(since, limit, wait)
    }

    fn verify(&self, session: Option<&SessionId>) -> Result<Verification> {
        self.inner.verify(session)
    }
}

#[test]
fn a_copy_that_was_overtaken_leaves_the_thread_of_the_other_writer() {
    let store = Arc::new(Overtaken::default());
    let saver = saver(&Engine::new(store.clone()));
    saver.put(&put("1", None, None, &["a"])).unwrap();
    let other = self::saver(&Engine::new(store.inner.clone()));
    let mut theirs: Value = serde_json::from_str(&put("9", None, None, &["theirs"])).unwrap();
    theirs["thread"] = thread("u");
    *store.faster.lock().unwrap() = Some(Box::new(move || {
        other.put(&theirs.to_string()).unwrap();
    }));
    assert_eq!(saver.copy_thread("t", "u").unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(messages(&saver, &thread("u"), None), ["theirs"]);
}

#[test]
fn removed_checkpoints_are_not_listed_and_later_ones_are_whole() {
    let engine = engine();
    let saver = saver(&engine);
    saver.put(&put("1", None, None, &["a"])).unwrap();
    saver.put(&put("2", Some("1"), Some(("1", 1)), &["b"])).unwrap();
    saver.put(&put("3", Some("2"), Some(("2", 2)), &["c"])).unwrap();
    saver.delete_for_runs(&["run-2".to_owned()]).unwrap();
    let list = json!({"thread_id": "t", "namespace": null, "id": null}).to_string();
    assert_eq!(saver.list(&list).unwrap(), r#"[["t","",["3","1"]]]"#);
    saver.prune("t").unwrap();
    for reader in [&saver, &self::saver(&engine)] {
        assert_eq!(reader.list(&list).unwrap(), r#"[["t","",["3"]]]"#);
        assert_eq!(messages(reader, &thread("t"), None), ["a", "b", "c"]);
        assert!(tuples(reader, &thread("t"), Some(&["1", "2"])).is_empty());
    }
}

#[test]
fn the_thread_that_was_written_to_last_is_listed_first() {
    let engine = engine();
    let saver = saver(&engine);
    let put = |name: &str, id: &str, parent: Option<&str>| {
        let mut request: Value = serde_json::from_str(&put(id, parent, None, &["a"])).unwrap();
        request["thread"] = thread(name);
        assert_eq!(saver.put(&request.to_string()).unwrap(), "{}");
    };
    put("a", "1", None);
    put("b", "2", None);
    put("c", "3", None);
    put("a", "4", Some("1"));
    // A branch is another session of the thread, a copy another thread of the family.
    put("b", "5", None);
    saver.copy_thread("c", "d").unwrap();
    // A thread that begins anew, with a copy that remains.
    saver.delete_thread("c").unwrap();
    put("c", "6", None);
    let all = r#"[["c","",["6"]],["d","",["3"]],["b","",["5","2"]],["a","",["4","1"]]]"#;
    for reader in [&saver, &self::saver(&engine)] {
        for _ in 0..2 {
            assert_eq!(reader.list("{}").unwrap(), all);
        }
        let three = reader.list(r#"{"limit":3}"#).unwrap();
        assert_eq!(three, r#"[["c","",["6"]],["d","",["3"]],["b","",["5"]]]"#);
        assert_eq!(reader.list(r#"{"limit":0}"#).unwrap(), "[]");
    }
    saver.delete_for_runs(&["run-4".to_owned(), "run-3".to_owned()]).unwrap();
    let left = r#"[["c","",["6"]],["b","",["5","2"]],["a","",["1"]]]"#;
    let mut listed: Vec<Value> = serde_json::from_str(&saver.list("{}").unwrap()).unwrap();
    listed.sort_by_key(|it| std::cmp::Reverse(it[0].as_str().unwrap().to_owned()));
    assert_eq!(Value::from(listed).to_string(), left);
}
