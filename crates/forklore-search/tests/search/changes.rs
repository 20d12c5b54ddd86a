//! The index follows every change of the sessions.

use forklore_api::Search;
use forklore_core::header::CopyOf;
use forklore_core::workspace::Workspace;
use forklore_core::{EventType, SessionKind, Strategy, Usage};
use forklore_engine::{DeleteMode, Fork};
use forklore_search::SearchIndex;
use forklore_store::port::{At, NewSession};
use serde_json::json;

use crate::world::{
    KINDS, Kind, assistant, create, delete, fork, id, lines, say, search, undelete, user,
};

#[test]
fn appends_labels_and_titles_are_found_at_once() {
    for kind in KINDS {
        let folder = tempfile::tempdir().unwrap();
        let engine = kind.open(folder.path());
        create(&engine, "main", "/w");
        user(&engine, "main", "one");
        assert_eq!(lines(&engine, "two"), [""; 0]);
        assistant(&engine, "main", "two");
        assert_eq!(lines(&engine, "two"), ["main:1 in main"]);
        fork(&engine, "main", "index:1", "child");
        assert_eq!(lines(&engine, "one"), ["main:0 in main child"]);
        assert_eq!(lines(&engine, "two"), ["main:1 in main"]);
        assert_eq!(lines(&engine, "label"), ["child:label in child"]);
        engine.label(&id("child"), &"renamed".parse().unwrap()).unwrap();
        assert_eq!(lines(&engine, "label"), [""; 0]);
        assert_eq!(lines(&engine, "renamed"), ["child:label in child"]);
        engine.label(&id("main"), &"trunk".parse().unwrap()).unwrap();
        assert_eq!(lines(&engine, "trunk"), ["main:label in main"]);
        // The result of a call comes after an update of the index that contains the call.
        let call = json!({"id": "c", "name": "shell", "arguments": {}});
        say(&engine, "child", EventType::TOOL_CALL, &call);
        assert_eq!(lines(&engine, "shell"), ["child:2 in child"]);
        say(&engine, "child", EventType::TOOL_RESULT, &json!({"call_id": "c", "content": "x"}));
        let results = Search { tool: Some("shell".into()), ..Search::of("x") };
        assert_eq!(SearchIndex::of(&engine).search(&results).unwrap().hits.len(), 1);
    }
}

#[test]
fn deleted_text_is_found_only_where_another_session_inherits_it() {
    for kind in KINDS {
        // The index sees the deletes one by one, or only their end.
        for is_following in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            let engine = kind.open(folder.path());
            let check = |query: &str, expected: &[&str]| {
                if is_following {
                    assert_eq!(lines(&engine, query), expected, "{kind:?} {query}");
                }
            };
            create(&engine, "a", "/w");
            user(&engine, "a", "word zero");
            user(&engine, "a", "word one");
            fork(&engine, "a", "index:1", "b");
            user(&engine, "b", "word two");
            user(&engine, "b", "word three");
            fork(&engine, "b", "index:2", "c");
            user(&engine, "c", "word four");
            check("word", &["a:0 in a b c", "a:1 in a", "b:2 in b c", "b:3 in b", "c:3 in c"]);
            delete(&engine, "b", DeleteMode::DetachChildren);
            check("word", &["a:0 in a c", "a:1 in a", "c:2 in c", "c:3 in c"]);
            delete(&engine, "a", DeleteMode::DetachChildren);
            assert_eq!(lines(&engine, "word"), ["c:1 in c", "c:2 in c", "c:3 in c"], "{kind:?}");
            assert_eq!(lines(&engine, "label"), ["c:label in c"]);
            delete(&engine, "c", DeleteMode::Cascade);
            assert_eq!(lines(&engine, "word"), [""; 0]);
            undelete(&engine, "b");
            check("word", &["b:1 in b", "b:2 in b", "b:3 in b"]);
            undelete(&engine, "a");
            undelete(&engine, "c");
            let all = ["a:0 in a b c", "a:1 in a", "b:2 in b c", "b:3 in b", "c:3 in c"];
            assert_eq!(lines(&engine, "word"), all, "{kind:?}");
        }
    }
}

#[test]
fn delegates_copies_and_detached_sessions_are_found() {
    for kind in KINDS {
        let folder = tempfile::tempdir().unwrap();
        let engine = kind.open(folder.path());
        create(&engine, "main", "/w");
        user(&engine, "main", "word zero");
        let helper =
            Fork { id: Some(id("helper")), kind: SessionKind::Delegate, ..Fork::of(id("main")) };
        engine.fork(&helper).unwrap();
        user(&engine, "helper", "word one");
        let copy =
            Fork { id: Some(id("copy")), strategy: Strategy::ReplayV1, ..Fork::of(id("main")) };
        engine.fork(&copy).unwrap();
        fork(&engine, "copy", "end", "late");
        engine.detach(&id("late")).unwrap();
        assert_eq!(lines(&engine, "word"), ["helper:1 in helper", "main:0 in main copy late"]);
        delete(&engine, "main", DeleteMode::DetachChildren);
        // A delegate is deleted with its session.
        assert_eq!(lines(&engine, "word"), ["copy:1 in copy late"]);
    }
}

#[test]
fn a_search_of_a_folder_reads_only_its_families() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Kind::Sqlite.open(folder.path());
    for (session, folder) in [("one", "/w/one"), ("two", "/w/two")] {
        create(&engine, session, folder);
        user(&engine, session, &"word ".repeat(100));
    }
    let read = |workspace: Option<&str>| {
        let mut bytes = 0;
        let workspace = workspace.map(Workspace::new);
        let request = Search { workspace, ..Search::of("word") };
        let mut note = |progress: forklore_search::Progress| bytes = progress.bytes_done;
        let answer = SearchIndex::of(&engine).search_with(&request, &mut note).unwrap();
        (answer.hits.len(), bytes > 0)
    };
    assert_eq!(read(Some("/w/one")), (1, true));
    assert_eq!(read(Some("/w/one")), (1, false));
    assert_eq!(read(None), (2, true));
    assert_eq!(read(Some("/w/two")), (1, false));
}

#[test]
fn what_was_copied_is_found_in_the_original() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Kind::Sqlite.open(folder.path());
    create(&engine, "original", "/w/one");
    user(&engine, "original", "word zero");
    user(&engine, "original", "word one");
    let events = engine.events(&id("original"), At::Seq(0)).map(|stored| stored.unwrap().event);
    let session = NewSession {
        id: id("copy"),
        kind: SessionKind::Root,
        label: "main".parse().unwrap(),
        title: None,
        workspace: Workspace::new("/w/two"),
        principal: None,
        permissions: None,
        metadata: None,
        config: None,
        dialect: None,
        source: None,
        copy_of: Some(CopyOf { session_id: id("original"), index: 1 }),
        created: engine.now(),
        from: None,
        events: events.collect(),
        usage: Usage::default(),
    };
    engine.store().create(session).unwrap();
    // Only the first message was found to be copied.
    let all = ["copy:1 in copy", "original:0 in original", "original:1 in original"];
    assert_eq!(lines(&engine, "word"), all);
    // A search of the copy's folder has no original, so the hit names it.
    let there = Search { workspace: Some(Workspace::new("/w/two")), ..Search::of("zero") };
    let hits = SearchIndex::of(&engine).search(&there).unwrap().hits;
    assert_eq!((hits.len(), hits[0].copy_of.as_ref()), (1, Some(&id("original"))));
    delete(&engine, "original", DeleteMode::Cascade);
    assert_eq!(lines(&engine, "word"), ["copy:0 in copy", "copy:1 in copy"]);
}

/// One transaction of the index reads 32 MiB.
#[test]
fn sessions_larger_than_one_transaction_are_found_to_their_ends() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Kind::Sqlite.open(folder.path());
    let filler = "filler ".repeat(80_000);
    for (session, count) in [("large", 65), ("small", 2), ("other", 70)] {
        create(&engine, session, "/w");
        for at in 0..count {
            user(&engine, session, &format!("{session}{at} {filler}"));
        }
    }
    let mut progress = Vec::new();
    let request = Search::of("nowhere");
    SearchIndex::of(&engine).search_with(&request, &mut |it| progress.push(it.bytes_done)).unwrap();
    assert_eq!(progress.len(), 4, "{progress:?}");
    for found in ["large0", "large64", "small0", "small1", "other0", "other69"] {
        assert_eq!(search(&engine, found).hits.len(), 1, "{found}");
    }
}
