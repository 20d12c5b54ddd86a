//! What a search finds, and what a hit says.

use std::time::Duration;

use forklore_api::{HitBranch, HitKind, Search};
use forklore_core::workspace::Workspace;
use forklore_core::{ErrorKind, EventType, Role};
use forklore_engine::{Create, Engine, NewEvent};
use forklore_search::SearchIndex;
use serde_json::json;

use crate::world::{KINDS, Kind, assistant, create, fork, id, line, lines, say, search, user};

/// Creates two families in two folders.
fn grow(engine: &Engine) {
    let root = Create {
        id: Some(id("main")),
        title: Some("Retry policy".into()),
        ..Create::in_workspace(Workspace::new("/w/one"))
    };
    engine.create(&root).unwrap();
    user(engine, "main", "How do we retry a request?");
    let call =
        json!({"id": "c", "name": "Bash", "arguments": {"command": "grep -n backoff src/http.rs"}});
    say(engine, "main", EventType::TOOL_CALL, &call);
    say(
        engine,
        "main",
        EventType::TOOL_RESULT,
        &json!({"call_id": "c", "content": "9: let Backoff = 2;"}),
    );
    assistant(engine, "main", "With an exponential backoff, as in src/http.rs.");
    fork(engine, "main", "end", "plan-b");
    user(engine, "plan-b", "Let us never retry.");
    create(engine, "other", "/w/two");
    user(engine, "other", "The café's résumé says: retrying naïvely");
}

#[test]
fn words_are_found_wherever_they_are() {
    for kind in KINDS {
        let folder = tempfile::tempdir().unwrap();
        let engine = kind.open(folder.path());
        assert_eq!(lines(&engine, "retry"), [""; 0]);
        grow(&engine);
        for (query, expected) in [
            ("retry", &["main:0 in main plan-b", "main:title in main", "plan-b:5 in plan-b"][..]),
            ("RETRY request", &["main:0 in main plan-b"]),
            (
                "retr*",
                &[
                    "main:0 in main plan-b",
                    "main:title in main",
                    "other:0 in other",
                    "plan-b:5 in plan-b",
                ],
            ),
            ("\"retry a request\"", &["main:0 in main plan-b"]),
            ("\"request a retry\"", &[]),
            ("src/http.rs", &["main:1 in main plan-b", "main:3 in main plan-b"]),
            (
                "backoff",
                &["main:1 in main plan-b", "main:2 in main plan-b", "main:3 in main plan-b"],
            ),
            ("bash", &["main:1 in main plan-b"]),
            ("cafe resume naively", &["other:0 in other"]),
            ("plan", &["plan-b:label in plan-b"]),
            ("regex:[Bb]ackoff = \\d", &["main:2 in main plan-b"]),
            ("regex:Retry p", &["main:title in main"]),
            ("backoff regex:^With", &["main:3 in main plan-b"]),
            ("nowhere", &[]),
        ] {
            assert_eq!(lines(&engine, query), expected, "{kind:?} {query}");
        }
    }
}

#[test]
fn options_select_what_is_searched() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Kind::Sqlite.open(folder.path());
    grow(&engine);
    let since = engine.store().header(&id("other")).unwrap().created;
    let answered = |request: Search| {
        let answer = SearchIndex::of(&engine).search(&request).unwrap();
        let mut lines: Vec<_> = answer.hits.iter().map(line).collect();
        lines.sort();
        lines
    };
    let retry = Search::of("retr*");
    let one = Some(Workspace::new("/w/one"));
    let (main, title) = ("main:0 in main plan-b", "main:title in main");
    let (plan, other) = ("plan-b:5 in plan-b", "other:0 in other");
    for (request, expected) in [
        (Search { workspace: one.clone(), ..retry.clone() }, &[main, title, plan][..]),
        (Search { workspace: Some(Workspace::new("/none")), ..retry.clone() }, &[]),
        (Search { role: Some(Role::User), ..retry.clone() }, &[main, other, plan]),
        (Search { role: Some(Role::System), ..retry.clone() }, &[]),
        (Search { kind: Some(HitKind::Title), ..retry.clone() }, &[title]),
        (Search { agent: Some("Forklore".into()), ..retry.clone() }, &[main, title, other, plan]),
        (Search { agent: Some("claude".into()), ..retry.clone() }, &[]),
        (Search { since: Some(since), ..retry.clone() }, &[other]),
        (
            Search { tool: Some("bash".into()), ..Search::of("backoff") },
            &["main:1 in main plan-b", "main:2 in main plan-b"],
        ),
        (Search { kind: Some(HitKind::Call), ..Search::of("backoff") }, &["main:1 in main plan-b"]),
        (
            Search { tool: Some("Bash".into()), ..Search::of("regex:B") },
            &["main:1 in main plan-b", "main:2 in main plan-b"],
        ),
        (
            Search { workspace: one, kind: Some(HitKind::Label), ..Search::of("regex:plan") },
            &["plan-b:label in plan-b"],
        ),
    ] {
        assert_eq!(answered(request.clone()), expected, "{request:?}");
    }
}

#[test]
fn a_hit_says_where_it_is_and_shows_it() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Kind::Sqlite.open(folder.path());
    grow(&engine);
    let answer = SearchIndex::of(&engine).search(&Search {
        tool: Some("Bash".into()),
        role: Some(Role::Tool),
        ..Search::of("backoff")
    });
    let mut answer = serde_json::to_value(answer.unwrap()).unwrap();
    let hit = &mut answer["hits"][0];
    assert!(hit["score"].take().as_f64().unwrap() > 0.0);
    let expected = json!({"hits": [{
        "session_id": "main", "event_id": "main-2", "seq": 2, "index": 2, "turn": 1,
        "kind": "result", "role": "tool", "tool": "Bash", "ts": hit["ts"], "label": "main",
        "title": "Retry policy", "workspace": "/w/one", "agent": "forklore",
        "snippet": {"text": "9: let Backoff = 2;", "cut_before": false, "cut_after": false,
            "highlights": [{"start": 7, "end": 14}]},
        "score": null,
        "branches": [{"session_id": "main", "label": "main"},
            {"session_id": "plan-b", "label": "label-plan-b"}],
        "branch_count": 2,
    }], "more": false});
    assert_eq!(answer, expected);
}

#[test]
fn the_best_hits_come_first_and_the_answer_says_whether_there_are_more() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Kind::Sqlite.open(folder.path());
    create(&engine, "main", "/w");
    for at in 0..30 {
        user(&engine, "main", &format!("needle in a stack of {at} pieces of hay"));
    }
    user(&engine, "main", "needle");
    user(&engine, "main", &"hay ".repeat(500));
    let answered =
        |limit| SearchIndex::of(&engine).search(&Search { limit, ..Search::of("needle") }).unwrap();
    let answer = answered(3);
    let seqs: Vec<_> = answer.hits.iter().map(|hit| hit.seq.unwrap()).collect();
    assert_eq!((seqs, answer.more), (vec![30, 29, 28], true));
    assert_eq!((answered(31).hits.len(), answered(31).more), (31, false));
    assert_eq!((answered(0).hits.len(), answered(0).more), (31, false));
    let regex = SearchIndex::of(&engine).search(&Search { limit: 2, ..Search::of("regex:needle") });
    let regex = regex.unwrap();
    assert_eq!((regex.hits.len(), regex.more), (2, true));
}

/// A word that more messages have than are ranked says little about any of them.
#[test]
fn very_common_words_do_not_count_in_the_order_of_hits() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Kind::Sqlite.open(folder.path());
    create(&engine, "big", "/w");
    let common = |at| NewEvent::user(&format!("common number{at}")).unwrap();
    for from in [0, 1_000, 2_000, 3_000, 4_000, 5_000] {
        let events: Vec<_> = (from..from + 1_000).map(common).collect();
        engine.append(&id("big"), &events.into()).unwrap();
    }
    let request = Create {
        id: Some(id("titled")),
        title: Some("On common ground".into()),
        ..Create::in_workspace(Workspace::new("/w"))
    };
    engine.create(&request).unwrap();
    user(&engine, "titled", "common rare rare");
    user(&engine, "titled", "common rare and much that makes it long");
    user(&engine, "titled", "common and short");
    let ordered = |query: &str| -> Vec<_> {
        let answer = search(&engine, query);
        let hits = answer.hits.into_iter().take(4);
        hits.map(|hit| (hit.seq, hit.score > 0.0)).collect()
    };
    let titled = [(None, true), (Some(2), false), (Some(1), false), (Some(0), false)];
    assert_eq!(ordered("common"), titled);
    assert!(search(&engine, "common").more);
    assert_eq!(ordered("common rare"), [(Some(0), true), (Some(1), true)]);
    assert_eq!(ordered("rare common"), ordered("common rare"));
    assert_eq!(ordered("common number4000"), [(Some(4_000), true)]);
}

#[test]
fn pages_that_follow_each_other_have_every_hit_once() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Kind::Files.open(folder.path());
    create(&engine, "main", "/w");
    for at in 0..25 {
        user(&engine, "main", &format!("needle number {at}"));
    }
    for query in ["needle", "regex:needle"] {
        let whole = search(&engine, query).hits;
        let mut request = Search { limit: 10, ..Search::of(query) };
        let mut hits = Vec::new();
        loop {
            let page = SearchIndex::of(&engine).search(&request).unwrap();
            assert_eq!(page.next.is_some(), page.more, "{query}");
            hits.extend(page.hits);
            request.after = page.next;
            if request.after.is_none() {
                break;
            }
        }
        assert_eq!(hits, whole, "{query}");
    }
    for after in ["", "x", "-1", "10001"] {
        let request = Search { after: Some(after.to_owned()), ..Search::of("needle") };
        let refused = SearchIndex::of(&engine).search(&request).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidArgs, "{after}");
    }
}

#[test]
fn summaries_are_found_in_every_branch_that_has_them() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Kind::Sqlite.open(folder.path());
    create(&engine, "main", "/w");
    user(&engine, "main", "a question");
    let summary = json!({"from_index": 0, "to_index": 1, "content": "the haystack has a needle"});
    say(&engine, "main", EventType::HISTORY_COMPACTION, &summary);
    fork(&engine, "main", "end", "plan-b");
    assert_eq!(lines(&engine, "needle"), ["main:1 in main plan-b"]);
    let hit = search(&engine, "needle").hits.remove(0);
    assert_eq!((hit.kind, hit.role, hit.index, hit.turn), (HitKind::Summary, None, None, Some(1)));
    assert_eq!(hit.snippet.text, "the haystack has a needle");
    let only = |kind| Search { kind: Some(kind), ..Search::of("needle") };
    let count = |kind| SearchIndex::of(&engine).search(&only(kind)).unwrap().hits.len();
    assert_eq!((count(HitKind::Summary), count(HitKind::Text)), (1, 0));
}

#[test]
fn of_many_branches_some_are_listed_and_all_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Kind::Sqlite.open(folder.path());
    create(&engine, "main", "/w");
    user(&engine, "main", "needle");
    for at in 0..30 {
        fork(&engine, "main", "end", &format!("fork-{at}"));
    }
    let answer = search(&engine, "needle");
    assert_eq!(answer.hits.len(), 1);
    let hit = &answer.hits[0];
    assert_eq!((hit.branches.len(), hit.branch_count), (20, 31));
    let first = HitBranch { session_id: id("main"), label: "main".parse().unwrap() };
    assert_eq!(hit.branches[0], first);
}

#[test]
fn an_impatient_search_answers_with_what_is_read_and_the_next_one_continues() {
    for kind in KINDS {
        let folder = tempfile::tempdir().unwrap();
        let engine = kind.open(folder.path());
        create(&engine, "a", "/w");
        user(&engine, "a", "word one");
        user(&engine, "a", "word two");
        create(&engine, "b", "/w");
        user(&engine, "b", "word three");
        let index = SearchIndex::of(&engine);
        let found = || {
            let early = index.search_within(&Search::of("word"), Duration::ZERO).unwrap();
            (early.answer.hits.len(), early.unread.is_some())
        };
        // Each search reads one event more. A store in memory has no index to continue.
        let steps = match kind {
            Kind::Memory => vec![(3, false); 4],
            Kind::Sqlite | Kind::Files => vec![(1, true), (2, true), (3, true), (3, false)],
        };
        assert_eq!(steps.iter().map(|_| found()).collect::<Vec<_>>(), steps, "{kind:?}");
        let whole = index.search(&Search::of("word")).unwrap();
        assert_eq!(whole.hits.len(), 3, "{kind:?}");
    }
}
