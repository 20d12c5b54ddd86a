//! Tests that the async and the blocking API have the same methods with the same results.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use forklore::core::ErrorKind;
use forklore::engine::{LogRange, ReplayRange};
use forklore::page::Format;
use forklore::prelude::*;
use futures_lite::future::block_on;

use crate::{message, with_messages};

/// Public methods of the engine that the async API lacks or has in another form.
const NO_VERBS: [&str; 35] = [
    "new",
    "with_agent_formats",
    "with_containers",
    "with_clock",
    "with_max_fork_depth",
    "max_fork_depth",
    "store",
    "shared_store",
    "on_store",
    "with_program",
    "with_principal",
    "new_operation",
    // Methods for the budgets of the agent kernel.
    "usage_since",
    "usage_with_subagents",
    "now",
    "new_id",
    "new_fork_id",
    "message",
    "call_usage",
    // Methods that describe single events, for the program's transcripts.
    "summary_messages",
    "open_calls_before",
    "open_calls_at",
    // The answer for a branch of which only the files are brought, which the program does.
    "bring_nothing",
    // The async API has `changes` instead, which calls the store directly.
    "follow",
    // Methods for the importer.
    "agent_formats",
    "containers",
    "has_deleted",
    "has_redacted",
    "hold_mentioned",
    "open_calls",
    "strategy_within_depth",
    // The verbs that list sessions return this information.
    "has_summary",
    "is_leased",
    "lease_of",
    "sources",
];

/// Adds to `found` the public methods of `kind` in the Rust files below `folder`.
fn methods(folder: &Path, kind: &str, found: &mut BTreeSet<String>) {
    let begin = format!("\nimpl {kind} {{\n");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            methods(&path, kind, found);
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let blocks = text.split(&begin).skip(1);
        for block in blocks.filter_map(|block| block.split("\n}\n").next()) {
            let lines = block.lines().filter_map(|line| {
                let line = line.strip_prefix("    pub ")?.trim_start_matches("async ");
                line.strip_prefix("fn ")?.split(['(', '<']).next().map(str::to_owned)
            });
            found.extend(lines);
        }
    }
}

#[test]
fn every_verb_of_the_engine_is_there() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (mut engine, mut face) = (BTreeSet::new(), BTreeSet::new());
    methods(&crates.join("forklore-engine/src"), "Engine", &mut engine);
    methods(&crates.join("forklore/src/face"), "Forklore", &mut face);
    assert!(engine.len() > 30, "{engine:?}");
    let missing: Vec<_> =
        engine.difference(&face).filter(|name| !NO_VERBS.contains(&name.as_str())).collect();
    assert!(missing.is_empty(), "verbs of Engine that Forklore lacks: {missing:?}");
}

#[test]
fn writing_verbs_do_what_they_say() {
    block_on(async {
        let (store, main) = with_messages(2).await;
        let pin = store.take_lease(&main, "me").await.unwrap();
        assert_eq!(pin.lease.unwrap().owner, "me");
        let refused = store.append(&main, message("c")).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Busy);
        store.release(&main, "me").await.unwrap();

        let fork =
            store.fork(Fork::of(main.clone()).at("message:0".parse().unwrap())).await.unwrap();
        let child = fork.child_session_id;
        store.append(&child, message("d")).await.unwrap();
        let brought = store.bring(Bring::new(child.clone(), main.clone())).await.unwrap();
        assert!(brought.recorded && brought.from_index == 1);
        let labelled = store.label(&child, &"b".parse().unwrap()).await.unwrap();
        assert_eq!(labelled.label.as_str(), "b");
        let renamed = store.rename(&child, Some("Plan B")).await.unwrap();
        assert_eq!(renamed.title.as_deref(), Some("Plan B"));
        assert_eq!(store.detach(&child).await.unwrap().copied_events, 1);
        let delete =
            Delete { session: main.clone(), mode: DeleteMode::Refuse, dry_run: false, erase: true };
        assert_eq!(store.delete(delete).await.unwrap().deleted, std::slice::from_ref(&main));
        assert_eq!(store.show(&main).await.unwrap_err().kind(), ErrorKind::NotFound);
        store.gc().await.unwrap();
        assert_eq!(store.verify(None).await.unwrap().problems, []);
    });
}

#[test]
fn attachments_are_stored_listed_and_read() {
    block_on(async {
        let (store, main) = with_messages(1).await;
        let request = Attach { name: Some("n".into()), ..Attach::default() };
        let attached = store.attach(&main, &b"bytes"[..], request).await.unwrap();
        let named = store.attachments(&main).await.unwrap();
        assert_eq!(named, store.engine().attachments(&main).unwrap());
        assert_eq!((named[0].id, named[0].bytes), (attached.id, Some(5)));
        let (read, bytes) = store.read_attachment(&attached.id, Vec::new()).await.unwrap();
        assert_eq!((read, bytes), (5, b"bytes".to_vec()));
        let pin = store.put_attachment(&b"more"[..], 4).await.unwrap();
        assert_eq!(store.gc().await.unwrap().attachments, 0);
        drop(pin);
        assert_eq!(store.gc().await.unwrap().attachments, 1);
    });
}

#[test]
fn trees_are_those_of_the_engine() {
    block_on(async {
        let (store, main) = with_messages(3).await;
        let child = store.fork(Fork::of(main.clone())).await.unwrap().child_session_id;
        store.append(&child, message("d")).await.unwrap();
        let engine = store.engine();
        let all = TreeRequest::default();
        assert_eq!(store.tree(all.clone()).await.unwrap(), engine.tree(&all).unwrap());
        let mut trees = engine.tree(&all).unwrap();
        let reported = store.mark_brought(trees.clone()).await.unwrap();
        assert_eq!(reported, (trees.clone(), engine.mark_brought(&mut trees)));
        let described = store.add_first_words(trees.clone()).await.unwrap();
        engine.add_first_words(&mut trees);
        assert_eq!(described, trees);
        let header = store.show(&child).await.unwrap();
        assert_eq!(store.described(&header).await.unwrap(), engine.described(&header));
    });
}

#[test]
fn reading_verbs_answer_as_the_engine_does() {
    block_on(async {
        let (store, main) = with_messages(3).await;
        let child = store.fork(Fork::of(main.clone())).await.unwrap().child_session_id;
        store.append(&child, message("d")).await.unwrap();
        let engine = store.engine();
        let header = store.show(&child).await.unwrap();
        assert_eq!(header, engine.show(&child).unwrap());
        let cut: Selector = "turn:-1".parse().unwrap();
        assert_eq!(store.cut(&header, &cut).await.unwrap(), engine.cut(&header, &cut).unwrap());
        assert_eq!(store.load(&child).await.unwrap(), engine.load(&child).unwrap());
        let inspection = store.inspect(&child).await.unwrap();
        assert_eq!(inspection, engine.inspect(&child).unwrap());
        let lazily = store.inspect_lazily(&child).await.unwrap();
        assert_eq!(lazily.messages.all().await.unwrap(), inspection.messages);
        assert_eq!(store.branches(&main).await.unwrap(), engine.branches(&main).unwrap());
        assert_eq!(store.lineage(&child).await.unwrap(), engine.lineage(&child).unwrap());
        let difference = store.diff(&main, &child).await.unwrap();
        assert_eq!(difference, engine.diff(&main, &child).unwrap());
        let stats = store.diff_stats(&main, &child).await.unwrap();
        assert_eq!(stats, engine.diff_stats(&main, &child).unwrap());
        let range = ReplayRange { last: Some(1), ..ReplayRange::default() };
        let last = store.replay_range(&main, &range).await.unwrap().all().await.unwrap();
        let by_engine: Vec<_> =
            engine.replay_range(&main, &range).unwrap().collect::<Result<_, _>>().unwrap();
        assert_eq!(last, by_engine);
        assert_eq!((difference.common, difference.only_b.len()), (3, 1));
        let compared = store.compare(&main, &child).await.unwrap();
        assert_eq!((compared.common, compared.ancestor), (3, difference.ancestor));
        assert_eq!(compared.only_a.all().await.unwrap(), difference.only_a);
        assert_eq!(compared.only_b.all().await.unwrap(), difference.only_b);
        let part = store.replay_part(&child, 1..3).await.unwrap().all().await.unwrap();
        assert_eq!(
            part,
            engine.replay(&child, None).unwrap().collect::<Result<Vec<_>, _>>().unwrap()[1..3]
        );
        let header = engine.show(&child).unwrap();
        let words = engine.first_words(&header).unwrap();
        assert!(words.is_some());
        assert_eq!(store.first_words(&header).await.unwrap(), words);
        let inherited = engine.inherited_usage(&child).unwrap();
        assert_eq!(store.inherited_usage(&child).await.unwrap(), inherited);
        let all = ListRequest::default();
        assert_eq!(store.list(all.clone()).await.unwrap(), engine.list(&all).unwrap());
        assert_eq!(store.stats(None).await.unwrap(), engine.stats(None).unwrap());
        let view = store.model_view(&child, None).await.unwrap();
        assert_eq!((view.messages.len(), view.shared), (4, 3));
        assert_eq!(view, engine.model_view(&child, None).unwrap());
        let at = store.cut(&header, &cut).await.unwrap();
        let would = store.fork_view(&header, &at, None).await.unwrap();
        assert_eq!(would, engine.fork_view(&header, &at, None).unwrap());
        assert_eq!(
            store.context_usage(&child).await.unwrap(),
            engine.context_usage(&child).unwrap()
        );
        let plan = store.plan_compaction(&child).await.unwrap();
        assert_eq!(plan, engine.plan_compaction(&child).unwrap());
        assert_eq!(store.interrupted_turn(&child).await.unwrap(), Some(vec![]));
        assert!(!store.is_cut_short(&child).await.unwrap());
        let family = store.family_stats(&child).await.unwrap();
        assert_eq!(family, engine.family_stats(&child).unwrap());
        let last = store.resolve("last", &Scope::default()).await.unwrap();
        assert_eq!(last.id, child);
    });
}

#[test]
fn what_can_be_read_is_saved_into_another_store() {
    block_on(async {
        let (store, session) = with_messages(3).await;
        let other = forklore::open("memory:").await.unwrap();
        let salvage = store.recover(&other).await.unwrap();
        assert_eq!((salvage.sessions, salvage.events, salvage.lost), (1, 3, vec![]));
        let (there, here) = (other.load(&session).await, store.load(&session).await);
        assert_eq!(there.unwrap().events, here.unwrap().events);
        let again = store.recover(&other).await.unwrap_err();
        assert_eq!(again.kind(), ErrorKind::AlreadyExists);
    });
}

#[test]
fn files_go_in_and_come_back() {
    block_on(async {
        let store = forklore::open("memory:").await.unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let file = root.join("testdata/pi/demo.jsonl");
        let options = ImportOptions::in_workspace(Workspace::new("/demo"));
        let (sender, progress) = std::sync::mpsc::channel();
        let tell = move |progressed: forklore::import::Progressed<'_>| {
            sender.send(progressed.done).unwrap();
        };
        let report = store.import([file.clone()], options, tell).await.unwrap();
        assert_eq!(report.files, 1);
        let bytes = fs::read(&file).unwrap();
        assert_eq!(progress.iter().last(), Some(bytes.len() as u64));

        let session = report.sessions[0].session_id.clone();
        let (restored, back) = store.restore(&session, Vec::new()).await.unwrap();
        assert_eq!((restored.bytes, back), (bytes.len() as u64, bytes));

        let (exported, lines) = store.export_plain(&session, Vec::new()).await.unwrap();
        assert_eq!(lines.iter().filter(|byte| **byte == b'\n').count() as u64, exported.events);
        let (paged, page) =
            store.export_page(&session, Format::Html, None, Vec::new()).await.unwrap();
        assert_eq!(paged.events, exported.events);
        assert!(page.starts_with(b"<!doctype html>") && page.ends_with(b"</html>\n"));
        let (next, log) = store.log(&session, LogRange::default(), Vec::new()).await.unwrap();
        assert_eq!(log.iter().filter(|byte| **byte == b'\n').count() as u64, next);
    });
}
