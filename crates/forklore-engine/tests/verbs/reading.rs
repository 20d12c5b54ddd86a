//! Tests of the verbs that read: `replay`, `inspect`, `diff` and `log`.

use forklore_core::{Content, Data, Origin, Role, Usage};
use forklore_engine::{
    Batch, LogRange, NewEvent, Replay, ReplayRange, Replayed, SideStats, TreeRequest,
};
use forklore_store::port::At;
use serde_json::json;

use crate::world::{World, cut, id, on_every_store};

on_every_store!(
    replay_changes_nothing_and_up_to_bounds_it,
    a_reading_of_nothing_is_no_error,
    a_part_of_a_replay_begins_where_it_is_named,
    calls_that_are_open_before_an_event_are_found,
    a_replay_for_people_has_the_summaries,
    inspect_reports_balance_and_what_is_left_out,
    replay_shows_the_present_label_of_the_writer,
    diff_is_by_origin,
    diff_across_families,
    what_each_side_did_is_counted,
    a_comparison_finds_where_a_walk_parts,
    log_ranges,
    reasoning_of_another_model_is_left_out,
    a_finished_subagent_is_seen,
    a_running_subagent_of_an_ancestor_is_shown_as_detached,
    what_is_left_out_is_counted_by_its_own_type,
    stats_count_shared_bytes_and_usage_once,
    first_words_are_what_a_person_typed,
);

fn texts(world: &World, name: &str, up_to: Option<&str>) -> Vec<String> {
    let up_to = up_to.map(cut);
    let records = world.engine.replay(&id(name), up_to.as_ref()).unwrap();
    records
        .map(|record| {
            let record = record.unwrap();
            let Content::Text(text) = record.content else {
                return format!("{}:parts", record.index);
            };
            format!("{}:{text}", record.index)
        })
        .collect()
}

fn a_reading_of_nothing_is_no_error(world: &World) {
    world.session("empty", "");
    world.session("p", "u1 a1");
    world.fork("p", "start", "c");
    for (name, up_to) in
        [("empty", "end"), ("empty", "start"), ("p", "start"), ("c", "end"), ("c", "seq:0")]
    {
        assert_eq!(texts(world, name, Some(up_to)), Vec::<String>::new(), "{name} {up_to}");
    }
}

/// Returns the conversation indexes that a replay of this range has. `-` stands for a missing
/// position.
fn indexes(world: &World, name: &str, from: &str, up_to: &str, last: Option<u64>) -> String {
    let named = |text: &str| (text != "-").then(|| cut(text));
    let range = ReplayRange { from: named(from), up_to: named(up_to), last };
    match world.engine.replay_range(&id(name), &range) {
        Ok(records) => {
            records.map(|record| record.unwrap().index.to_string()).collect::<Vec<_>>().join(" ")
        }
        Err(error) => format!("{:?}", error.kind()),
    }
}

fn a_part_of_a_replay_begins_where_it_is_named(world: &World) {
    world.session("p", "s1 u1 a1 $ u2 k:0-2 a2");
    world.fork("p", "", "c");
    world.write("c", "u3 w a3");
    for (from, up_to, last, expected) in [
        ("-", "-", None, "0 1 2 3 4 5 6"),
        ("start", "-", None, "0 1 2 3 4 5 6"),
        ("turn:1", "-", None, "1 2 3 4 5 6"),
        ("turn:2", "-", None, "3 4 5 6"),
        ("turn:-1", "-", None, "5 6"),
        ("turn:2", "turn:2", None, "3 4"),
        ("message:2", "message:3", None, "2 3"),
        ("message:-1", "-", None, "6"),
        ("index:5", "-", None, "5 6"),
        ("index:7", "-", None, ""),
        ("end", "-", None, ""),
        ("turn:3", "turn:1", None, ""),
        ("seq:0", "-", None, "0 1 2 3 4 5 6"),
        ("seq:-1", "-", None, "6"),
        ("seq:-2", "-", None, "6"),
        ("-", "-", Some(1), "5 6"),
        ("-", "-", Some(2), "3 4 5 6"),
        ("-", "-", Some(3), "0 1 2 3 4 5 6"),
        ("-", "-", Some(9), "0 1 2 3 4 5 6"),
        ("-", "-", Some(0), ""),
        ("-", "turn:2", Some(1), "3 4"),
        ("-", "message:1", Some(1), "0 1"),
        ("-", "start", Some(1), ""),
        ("message:4", "-", Some(2), "4 5 6"),
        ("turn:4", "-", None, "InvalidArgs"),
        ("message:7", "-", None, "InvalidArgs"),
        ("event:none", "-", None, "InvalidArgs"),
    ] {
        assert_eq!(indexes(world, "c", from, up_to, last), expected, "{from} {up_to} {last:?}");
    }
    let log = world.log("c");
    let of_event =
        |seq: usize| indexes(world, "c", &format!("event:{}", log[seq].event.id), "-", None);
    // The compaction is before `a2`, and `w` is before `a3`.
    assert_eq!([of_event(5), of_event(8)], ["4 5 6", "6"].map(str::to_owned));
    let kinds = [5, 8].map(|seq| log[seq].event.kind.as_str());
    assert_eq!(kinds, ["history_compaction", "workflow_event"]);
}

fn calls_that_are_open_before_an_event_are_found(world: &World) {
    world.session("p", "u1 c:x c:y r:x a1 r:y a2");
    let open = |seq: u64| {
        let calls = world.engine.open_calls_before(&world.header("p"), seq).unwrap();
        calls.calls().map(|call| call.name.clone()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!([0, 1, 2, 3, 4, 6].map(open), ["", "", "tool_x", "tool_x tool_y", "tool_y", ""]);
}

fn replay_changes_nothing_and_up_to_bounds_it(world: &World) {
    world.session("p", "u1 a1 w k:0-2 u2 $ a2");
    world.fork("p", "", "c");
    let before = (world.printed("c"), world.header("c"), world.engine.stats(None).unwrap());
    assert_eq!(texts(world, "c", None), ["0:u1", "1:a1", "2:u2", "3:a2"]);
    assert_eq!(texts(world, "c", Some("turn:1")), ["0:u1", "1:a1"]);
    assert_eq!(texts(world, "c", Some("message:2")), ["0:u1", "1:a1", "2:u2"]);
    assert_eq!(texts(world, "c", Some("start")), Vec::<String>::new());
    assert_eq!((world.printed("c"), world.header("c"), world.engine.stats(None).unwrap()), before);
}

fn a_replay_for_people_has_the_summaries(world: &World) {
    world.session("p", "u1 a1 w k:0-2 u2 $ a2");
    world.fork("p", "", "c");
    world.write("c", "k:0-4 $");
    let shown = |up_to: Option<&str>| -> Vec<String> {
        let up_to = up_to.map(cut);
        let replay = world.engine.replay(&id("c"), up_to.as_ref()).unwrap().with_summaries();
        let shown = replay.map(|replayed| match replayed.unwrap() {
            Replayed::Record(record) => format!("{}", record.index),
            Replayed::Summary(it) => {
                let texts: Vec<_> = it.messages.iter().map(|message| &message.content).collect();
                assert_eq!(texts, [&Content::Text("short".into())]);
                format!("{} of {}", it.kind, it.branch.unwrap())
            }
        });
        shown.collect()
    };
    let label = world.header("c").label;
    let (of_parent, own) =
        ("history_compaction of main", &*format!("history_compaction of {label}"));
    assert_eq!(shown(None), ["0", "1", of_parent, "2", "3", own]);
    assert_eq!(shown(Some("turn:1")), ["0", "1", of_parent]);
    assert_eq!(shown(Some("message:1")), ["0", "1"]);
    assert_eq!(shown(Some("start")), Vec::<String>::new());
}

fn inspect_reports_balance_and_what_is_left_out(world: &World) {
    world.session("p", "s0 u1 c:x c:y r:x w $ ! u2 r:y");
    let seen = world.engine.inspect(&id("p")).unwrap();
    let roles: Vec<Role> = seen.messages.iter().map(|message| message.role).collect();
    use Role::{Assistant as A, System as S, Tool as T, User as U};
    assert_eq!(roles, [S, U, A, A, T, T, U]);
    assert_eq!((seen.balanced, seen.open_results, seen.synthetic_results), (false, 1, 1));
    let left_out: Vec<_> = seen.excluded.iter().map(|(kind, n)| format!("{kind} {n}")).collect();
    // The result of call `y` came after the next user message, so the view leaves it out.
    assert_eq!(
        left_out,
        ["provider_usage 1", "tool_result 1", "turn_failed 1", "workflow_event 1"]
    );
    let mut lazily = world.engine.inspect_lazily(&id("p")).unwrap();
    for (at, message) in seen.messages.into_iter().enumerate() {
        assert_eq!(lazily.messages.left(), roles.len() - at);
        assert_eq!(lazily.messages.next().unwrap().unwrap(), message);
    }
    assert_eq!((lazily.messages.left(), lazily.messages.next().is_none()), (0, true));
    world.session("q", "u1 c:x r:x a1");
    let seen = world.engine.inspect(&id("q")).unwrap();
    assert_eq!((seen.balanced, seen.synthetic_results, seen.messages.len()), (true, 0, 4));
}

fn replay_shows_the_present_label_of_the_writer(world: &World) {
    world.session("p", "u1");
    world.fork("p", "", "c");
    world.write("c", "u2");
    world.engine.label(&id("c"), &"renamed".parse().unwrap()).unwrap();
    world.fork("c", "", "d");
    let labels: Vec<String> = world
        .engine
        .replay(&id("d"), None)
        .unwrap()
        .map(|record| record.unwrap().branch.unwrap().to_string())
        .collect();
    assert_eq!(labels, ["main", "renamed"]);
}

fn diff_is_by_origin(world: &World) {
    world.session("p", "u1 w a1 u2 a2");
    world.fork("p", "turn:1", "c");
    world.write("c", "u2 a9");
    let found = world.engine.diff(&id("p"), &id("c")).unwrap();
    let ancestor = found.ancestor.unwrap();
    assert_eq!(
        (found.common, ancestor.index, ancestor.seq, ancestor.session_id),
        (2, 1, 2, id("p"))
    );
    let texts = |records: Vec<forklore_engine::Record>| -> Vec<(u64, Content)> {
        records.into_iter().map(|record| (record.index, record.content)).collect()
    };
    let text = |text: &str| Content::Text(text.to_owned());
    // Two events with equal text are still different events.
    assert_eq!(texts(found.only_a), [(2, text("u2")), (3, text("a2"))]);
    assert_eq!(texts(found.only_b), [(2, text("u2")), (3, text("a9"))]);
    let same = world.engine.diff(&id("c"), &id("c")).unwrap();
    assert_eq!((same.common, same.only_a.len(), same.only_b.len()), (4, 0, 0));
}

fn what_each_side_did_is_counted(world: &World) {
    world.session("p", "u1 $ a1");
    world.fork("p", "turn:1", "c");
    world.write("p", "u2 c:x r:x $ a2 u3");
    let edit = |path: &str| {
        let arguments = json!({"file_path": path, "old_string": "a", "new_string": "b"});
        let data = json!({"id": "e", "name": "Edit", "arguments": arguments});
        NewEvent::new("tool_call".parse().unwrap(), Data::of(&data).unwrap())
    };
    let edits = Batch::from(vec![edit("b.rs"), edit("a.rs"), edit("b.rs")]);
    world.engine.append(&id("c"), &edits).unwrap();
    let stats = world.engine.diff_stats(&id("p"), &id("c")).unwrap();
    assert_eq!((stats.common, stats.ancestor.unwrap().index), (2, 1));
    let usage = Usage { input: 10, output: 2, cached: 0, cost: 0.5 };
    let side = |name: &str, label: &str, counts: [u64; 3], usage, files: &[&str]| {
        let [messages, turns, tool_calls] = counts;
        let files = files.iter().map(|file| (*file).to_owned()).collect();
        let (session_id, label) = (id(name), label.parse().unwrap());
        SideStats { session_id, label, messages, turns, tool_calls, usage, files }
    };
    assert_eq!(stats.a, side("p", "main", [5, 2, 1], usage, &[]));
    let label = world.header("c").label;
    assert_eq!(stats.b, side("c", label.as_str(), [3, 0, 3], Usage::default(), &["b.rs", "a.rs"]));
}

fn diff_across_families(world: &World) {
    world.session("p", "u1");
    world.session("q", "u1");
    let found = world.engine.diff(&id("p"), &id("q")).unwrap();
    assert_eq!((found.ancestor, found.common), (None, 0));
    assert_eq!((found.only_a.len(), found.only_b.len()), (1, 1));
}

fn a_comparison_finds_where_a_walk_parts(world: &World) {
    world.session("p", "u1 a1 w $ u2 c:x r:x a2 u3 a3");
    for (parent, at, child) in [
        ("p", "", "end"),
        ("p", "turn:1", "early"),
        ("p", "message:4", "late"),
        ("late", "turn:1", "back"),
        ("end", "message:2", "again"),
        ("p", "start", "anew"),
    ] {
        world.fork(parent, at, child);
    }
    for name in ["early", "late", "back", "anew"] {
        world.write(name, "u8 a8 w u9");
    }
    world.session("q", "u1 a1");
    let origins = |name: &str| -> Vec<Origin> {
        let events = world.engine.events(&id(name), At::Seq(0)).map(Result::unwrap);
        events.filter(|s| s.event.class.is_conversation()).map(|s| s.origin).collect()
    };
    let names = ["p", "end", "early", "late", "back", "again", "anew", "q"];
    for (a, b) in names.iter().flat_map(|a| names.map(|b| (*a, b))) {
        let (of_a, of_b) = (origins(a), origins(b));
        let common = of_a.iter().zip(&of_b).take_while(|(a, b)| a == b).count();
        let compared = world.engine.compare(&id(a), &id(b)).unwrap();
        assert_eq!(compared.common, common as u64, "{a} {b}");
        let last = compared.ancestor.as_ref().map(|last| (&last.session_id, last.seq));
        let walked = common.checked_sub(1).map(|at| &of_a[at]);
        assert_eq!(last, walked.map(|origin| (&origin.session_id, origin.seq)), "{a} {b}");
        let left = [compared.only_a.left(), compared.only_b.left()];
        assert_eq!(left, [&of_a, &of_b].map(|all| (all.len() - common) as u64), "{a} {b}");
        let difference = world.engine.diff(&id(a), &id(b)).unwrap();
        let all = |records: Replay| records.map(Result::unwrap).collect::<Vec<_>>();
        assert_eq!(difference.only_a, all(compared.only_a));
        assert_eq!(difference.only_b, all(compared.only_b));
        assert_eq!((difference.common, difference.ancestor), (compared.common, compared.ancestor));
    }
}

fn log_ranges(world: &World) {
    world.session("p", "u1 a1 $ u2");
    world.fork("p", "", "c");
    world.write("c", "u3 a3");
    let seqs = |range: LogRange| -> Vec<u64> {
        let header = world.header("c");
        world.engine.log_events(&header, range).map(|stored| stored.unwrap().seq).collect()
    };
    assert_eq!(seqs(LogRange::default()), [0, 1, 2, 3, 4, 5]);
    assert_eq!(seqs(LogRange { from: 2, to: Some(4), own: false }), [2, 3, 4]);
    assert_eq!(seqs(LogRange { own: true, ..LogRange::default() }), [0, 4, 5]);
    assert_eq!(seqs(LogRange { own: true, from: 1, to: Some(4) }), [4]);
    assert_eq!(seqs(LogRange { from: 99, ..LogRange::default() }), Vec::<u64>::new());
}

fn reasoning_of_another_model_is_left_out(world: &World) {
    world.session("p", "u1");
    let reasoning = |model: &str| {
        let data =
            serde_json::json!({"content": format!("by {model}"), "provider": "x", "model": model});
        let data = forklore_core::Data::of(&data).unwrap();
        forklore_engine::NewEvent::new("reasoning".parse().unwrap(), data)
    };
    let mut events = vec![reasoning("old")];
    events.extend(crate::world::events("a1 u2"));
    events.push(reasoning("new"));
    events.extend(crate::world::events("a2 u3"));
    events.push(reasoning("new"));
    world.engine.append(&id("p"), &events.into()).unwrap();
    let seen = world.engine.inspect(&id("p")).unwrap();
    // Two items are left out: reasoning of the other model, and reasoning that no assistant message
    // follows.
    assert_eq!(seen.excluded["reasoning"], 2);
    assert_eq!(seen.messages.len(), 6);
}

fn a_finished_subagent_is_seen(world: &World) {
    world.session("p", "u1");
    let event = |status: &str| {
        let data = serde_json::json!({"session_id": "sub", "status": status, "result": "42"});
        let data = forklore_core::Data::of(&data).unwrap();
        forklore_engine::NewEvent::new("subagent_event".parse().unwrap(), data)
    };
    world.engine.append(&id("p"), &vec![event("running"), event("finished")].into()).unwrap();
    let seen = world.engine.inspect(&id("p")).unwrap();
    assert_eq!(seen.messages.last().unwrap().plain_text(), "[Result of sub-agent sub]\n42");
    assert_eq!(seen.excluded["subagent_event"], 1);
}

fn a_running_subagent_of_an_ancestor_is_shown_as_detached(world: &World) {
    let tell = |session: &str, subagent: &str, status: &str| {
        let data = serde_json::json!({"session_id": subagent, "status": status});
        let data = forklore_core::Data::of(&data).unwrap();
        let event = forklore_engine::NewEvent::new("subagent_event".parse().unwrap(), data);
        world.engine.append(&id(session), &vec![event].into()).unwrap();
    };
    world.session("p", "u1");
    tell("p", "done", "running");
    tell("p", "done", "finished");
    tell("p", "sub", "running");
    world.fork("p", "", "c");
    tell("c", "mine", "running");
    world.fork("c", "", "d");
    // The session that owns the sub-agent records its end. The forks do not inherit this event.
    tell("p", "sub", "finished");
    let detached = |session: &str| {
        let seen = world.engine.inspect(&id(session)).unwrap().detached_subagents;
        let names =
            seen.iter().map(|one| format!("{} of {}", one.session_id, one.owner_session_id));
        names.collect::<Vec<_>>()
    };
    assert_eq!(detached("p"), Vec::<String>::new());
    assert_eq!(detached("c"), ["sub of p"]);
    assert_eq!(detached("d"), ["sub of p", "mine of c"]);
}

fn what_is_left_out_is_counted_by_its_own_type(world: &World) {
    world.session("p", "u1 c:x r:x a1 u2 k:0-4");
    let excluded = world.engine.inspect(&id("p")).unwrap().excluded;
    let counted: Vec<_> = excluded.iter().map(|(kind, n)| format!("{kind} {n}")).collect();
    assert_eq!(counted, ["assistant_message 1", "tool_call 1", "tool_result 1", "user_message 1"]);
}

fn stats_count_shared_bytes_and_usage_once(world: &World) {
    world.session("p", "u1 $ a1");
    let root = world.engine.stats(Some(&id("p"))).unwrap();
    world.fork("p", "", "c");
    world.write("c", "$ u2");
    let child = world.engine.stats(Some(&id("c"))).unwrap();
    assert_eq!((child.inherited_events, child.own_events, child.usage.input), (2, 3, 10));
    let family = world.engine.family_stats(&id("c")).unwrap();
    assert_eq!((family.sessions, family.usage.input, family.usage.cost), (2, 20, 1.0));
    assert_eq!(family.bytes, root.bytes + child.bytes);
    assert!(child.saved_bytes > 0 && child.saved_bytes < root.bytes);
}

fn first_words_are_what_a_person_typed(world: &World) {
    let say = |text: &str| {
        let kind = "user_message".parse().unwrap();
        NewEvent::new(kind, Data::of(&serde_json::json!({"content": text})).unwrap())
    };
    let words = |name: &str| world.engine.first_words(&world.header(name)).unwrap();
    world.session("p", "i1");
    assert_eq!(words("p"), None);
    let clear = "<command-name>/clear</command-name>\n<command-args></command-args>";
    for text in ["<environment_context>\n</environment_context>", clear] {
        world.engine.append(&id("p"), &Batch::from(vec![say(text)])).unwrap();
    }
    assert_eq!(words("p").as_deref(), Some("/clear"));
    let plan = "<system-reminder>Be brief.</system-reminder>\nplan A or plan B?";
    world.engine.append(&id("p"), &Batch::from(vec![say(plan)])).unwrap();
    assert_eq!(words("p").as_deref(), Some("plan A or plan B?"));
    // A branch that added nothing yet is described by what it inherited.
    world.fork("p", "", "c");
    assert_eq!(words("c").as_deref(), Some("plan A or plan B?"));
    // A tree does not repeat it under the parent, also if the last inherited event is a message
    // that a person typed.
    let in_tree = |name: &str| {
        let mut trees = world.engine.tree(&TreeRequest::default()).unwrap();
        world.engine.add_first_words(&mut trees);
        let node = trees.nodes.into_iter().find(|node| node.session_id == id(name)).unwrap();
        node.header.unwrap().first_words
    };
    assert_eq!((in_tree("p").as_deref(), in_tree("c")), (Some("plan A or plan B?"), None));
    world.write("c", "i2 u3");
    assert_eq!(words("c").as_deref(), Some("u3"));
    // With own words, a list and a tree name the branch alike.
    let listed = world.engine.described(&world.header("c")).first_words;
    assert_eq!((listed.as_deref(), in_tree("c").as_deref()), (Some("u3"), Some("u3")));
}
