//! Tests of `transfer`: moving sessions between stores (docs/semantics.md, Moving between stores).

use std::collections::BTreeMap;

use forklore_core::{AttachmentId, EventType, Selector, SessionId};
use forklore_engine::{
    Attach, Clock, Delete, DeleteMode, Fork, SkipReason, Transfer, TransferProgress, TransferState,
    Transferred, TransferredSession,
};
use forklore_store::port::Filter;
use proptest::prelude::*;

use crate::world::{World, events, id};

type Case = fn(&World, &World);

/// Runs a case from each kind of store into each kind.
fn in_all_directions(case: Case) {
    let worlds = [World::sqlite as fn() -> World, World::files];
    for here in worlds {
        for there in worlds {
            let (here, there) = (here(), there());
            // The two give other ids to their events.
            for _ in 0..1_000 {
                let _ = there.clock.random();
            }
            case(&here, &there);
        }
    }
}

fn transfer(from: &World, into: &World) -> Transferred {
    let request = Transfer { name: Some("laptop".into()), ..Transfer::default() };
    // A store records no time later than its own.
    let behind = from.engine.now().as_second() - into.engine.now().as_second();
    into.pass(u64::try_from(behind).unwrap_or(0));
    from.engine.transfer(&into.engine, &request, &mut |_| true).unwrap()
}

fn states(done: &Transferred) -> Vec<(String, String, TransferState, u64)> {
    let sessions = done.sessions.iter();
    let line = |it: &TransferredSession| {
        (it.session_id.to_string(), it.label.to_string(), it.state, it.events)
    };
    sessions.map(line).collect()
}

fn ids(world: &World) -> Vec<SessionId> {
    let all = world.engine.store().sessions(&Filter::default(), None, 0).unwrap().all().unwrap();
    let mut ids: Vec<_> = all.into_iter().map(|header| header.id).collect();
    ids.sort();
    ids
}

fn assert_sound(world: &World) {
    assert_eq!(world.engine.verify(None).unwrap().problems, Vec::new());
}

/// Returns the session that has this text as its last message.
fn ends_with(world: &World, text: &str) -> String {
    let found = ids(world).into_iter().find(|id| {
        world.shape(id.as_str()).split(' ').next_back().is_some_and(|last| last == text)
    });
    found.unwrap().to_string()
}

/// Writes a family with a branch, a copy, a delegate, usage and an attachment.
fn family(world: &World) -> AttachmentId {
    world.session("p", "u1 a1 $ u2 c:1 r:1 a2 w");
    let bytes = &mut &b"the bytes of a file"[..];
    let attach = Attach { name: Some("notes.txt".into()), ..Attach::default() };
    let attached = world.engine.attach(&id("p"), bytes, &attach).unwrap();
    world.write("p", "a3");
    world.fork("p", "turn:1", "b");
    world.write("b", "u5 $ a5");
    world.fork("b", "", "c");
    world.write("c", "u6");
    attached.id
}

#[test]
fn a_family_crosses_with_everything_that_belongs_to_it() {
    in_all_directions(|here, there| {
        let attachment = family(here);
        let done = transfer(here, there);
        assert_eq!(done.skipped, Vec::new());
        let created = |name: &str, label: &str, events| {
            (name.to_owned(), label.to_owned(), TransferState::Created, events)
        };
        let [b, c] = ["b", "c"].map(|name| here.header(name).label.to_string());
        let expected = vec![created("p", "main", 10), created("b", &b, 4), created("c", &c, 2)];
        assert_eq!(states(&done), expected);
        assert_eq!((done.families, done.events, done.attachments), (1, 16, 1));
        for name in ["p", "b", "c"] {
            assert_eq!(there.printed(name), here.printed(name));
            assert_eq!(there.header(name), here.header(name));
        }
        let mut bytes = Vec::new();
        there.engine.read_attachment(&attachment, &mut bytes).unwrap();
        assert_eq!(bytes, b"the bytes of a file");
        let again = transfer(here, there);
        assert_eq!((again.unchanged, again.events, states(&again)), (3, 0, Vec::new()));
        assert_sound(there);
    });
}

#[test]
fn a_session_that_went_on_here_gets_the_rest_and_a_longer_one_is_left() {
    in_all_directions(|here, there| {
        family(here);
        transfer(here, there);
        here.write("p", "u7 $ a7");
        there.write("b", "u8");
        let done = transfer(here, there);
        let expected = vec![("p".to_owned(), "main".to_owned(), TransferState::Continued, 3)];
        assert_eq!((states(&done), done.unchanged), (expected, 2));
        assert_eq!(there.printed("p"), here.printed("p"));
        assert_eq!(there.header("p").usage, here.header("p").usage);
        assert!(there.shape("b").ends_with("u8"));
        let back = transfer(there, here);
        assert_eq!(back.events, 1);
        assert_eq!(there.printed("b"), here.printed("b"));
    });
}

#[test]
fn what_both_sides_wrote_becomes_a_branch_and_never_a_third_copy() {
    in_all_directions(|here, there| {
        here.session("p", "u1 a1");
        transfer(here, there);
        here.write("p", "u2 a2");
        there.write("p", "u3 a3");
        let done = transfer(here, there);
        let expected = vec![("p".to_owned(), "laptop".to_owned(), TransferState::Parted, 3)];
        assert_eq!(states(&done), expected);
        let branch = done.sessions[0].target_id.clone();
        assert_eq!(there.shape("p"), "u1 a1 u3 a3");
        assert_eq!(there.shape(branch.as_str()), "F u1 a1 u2 a2");
        assert_eq!(there.engine.diff(&id("p"), &branch).unwrap().common, 2);
        let lineage = there.engine.lineage(&branch).unwrap();
        assert_eq!(lineage.ancestors.len(), 1);
        assert_eq!(transfer(here, there).events, 0);

        let back = transfer(there, here);
        assert_eq!(states(&back).len(), 1);
        let other = back.sessions[0].target_id.clone();
        assert_eq!(here.shape("p"), "u1 a1 u2 a2");
        assert_eq!(here.shape(other.as_str()), "F u1 a1 u3 a3");
        for _ in 0..2 {
            assert_eq!(transfer(here, there).events, 0);
            assert_eq!(transfer(there, here).events, 0);
        }
        assert_eq!((ids(here).len(), ids(there).len()), (2, 2));

        // Who continues the branch of the other continues the other's session.
        there.write(branch.as_str(), "u4");
        assert_eq!(transfer(there, here).events, 1);
        assert_eq!(here.shape("p"), "u1 a1 u2 a2 u4");
        assert_sound(here);
        assert_sound(there);
    });
}

#[test]
fn a_branch_that_both_sides_continued_parts_again() {
    in_all_directions(|here, there| {
        here.session("p", "u1");
        transfer(here, there);
        here.write("p", "u2");
        there.write("p", "u3");
        transfer(here, there);
        let branch = ends_with(there, "u2");
        here.write("p", "u4");
        there.write(&branch, "u5");
        transfer(here, there);
        transfer(there, here);
        for world in [here, there] {
            let mut ends: Vec<_> = ids(world)
                .iter()
                .map(|id| world.shape(id.as_str()).trim_start_matches("F ").to_owned())
                .collect();
            ends.sort();
            assert_eq!(ends, ["u1 u2 u4", "u1 u2 u5", "u1 u3"]);
        }
        assert_eq!(transfer(here, there).events + transfer(there, here).events, 0);
    });
}

#[test]
fn a_child_behind_the_point_where_its_parent_parts_belongs_to_the_branch() {
    in_all_directions(|here, there| {
        here.session("p", "u1 $ a1");
        transfer(here, there);
        here.write("p", "u2 a2 u3");
        there.write("p", "u9");
        here.fork("p", "turn:2", "behind");
        here.write("behind", "u4");
        here.fork("p", "turn:1", "before");
        transfer(here, there);
        let branch = ends_with(there, "u3");
        let parent = |name: &str| there.header(name).parent_id.unwrap().to_string();
        assert_eq!((parent("behind"), parent("before")), (branch, "p".to_owned()));
        assert_eq!(there.shape("behind"), here.shape("behind"));
        let own = |world: &World| world.log("behind").remove(0).event;
        assert_eq!(own(there), own(here));
        transfer(there, here);
        assert_eq!(transfer(here, there).events, 0);
        assert_eq!(transfer(there, here).events, 0);
        assert_eq!(ids(here).len(), ids(there).len());
        assert_sound(there);
    });
}

#[test]
fn what_was_deleted_there_is_reported_and_never_comes_back() {
    in_all_directions(|here, there| {
        family(here);
        transfer(here, there);
        let mode = DeleteMode::default();
        let delete = Delete { session: id("c"), mode, dry_run: false, erase: false };
        there.engine.delete(&delete).unwrap();
        here.write("c", "u9");
        here.fork("c", "", "d");
        let done = transfer(here, there);
        let skipped: Vec<_> =
            done.skipped.iter().map(|it| (it.session_id.to_string(), it.why)).collect();
        let deleted = SkipReason::Deleted;
        assert_eq!(skipped, [("c".to_owned(), deleted), ("d".to_owned(), deleted)]);
        assert_eq!((done.events, ids(there)), (0, vec![id("b"), id("p")]));
        // A delete does not cross either.
        assert_eq!(transfer(there, here).events, 0);
        assert_eq!(ids(here).len(), 4);
    });
}

#[test]
fn a_dry_run_answers_the_same_and_writes_nothing() {
    in_all_directions(|here, there| {
        family(here);
        let request = Transfer { dry_run: true, ..Transfer::default() };
        let planned = here.engine.transfer(&there.engine, &request, &mut |_| true).unwrap();
        assert_eq!(ids(there), Vec::new());
        let done = transfer(here, there);
        assert_eq!((states(&planned), planned.events), (states(&done), done.events));
    });
}

#[test]
fn an_interrupted_transfer_that_is_repeated_ends_in_the_same_state() {
    in_all_directions(|here, there| {
        family(here);
        here.write("b", &"u1 a1 $ ".repeat(400));
        transfer(here, there);
        here.write("p", &"u2 a2 ".repeat(600));
        here.fork("p", "turn:-1", "e");
        there.write("p", "u3");
        let mut batches = 0;
        loop {
            batches += 1;
            let mut left = batches;
            let mut go_on = |_: TransferProgress| {
                left -= 1;
                left > 0
            };
            let request = Transfer { name: Some("laptop".into()), ..Transfer::default() };
            let done = here.engine.transfer(&there.engine, &request, &mut go_on).unwrap();
            if !done.interrupted {
                break;
            }
            assert!(batches < 20);
        }
        assert!(batches > 1);
        assert_eq!(transfer(here, there).events, 0);
        let branch = there.header("e").parent_id.unwrap();
        let [mine, theirs] = [(here, "p"), (there, branch.as_str())]
            .map(|(world, name)| world.shape(name).replace("$ ", "").replace("F ", ""));
        assert_eq!(mine, theirs);
        assert_sound(there);
    });
}

#[test]
fn branches_that_part_at_an_audit_event_before_any_message_are_found_again() {
    in_all_directions(|here, there| {
        here.session("p", "u0");
        here.fork("p", "start", "b");
        transfer(here, there);
        there.write("b", "$");
        here.write("b", "u1");
        transfer(there, here);
        let parted = ids(here).into_iter().find(|id| id.as_str().starts_with("parted-")).unwrap();
        there.write("b", "u2");
        here.write(parted.as_str(), "u3");
        transfer(here, there);
        transfer(there, here);
        assert_eq!(histories(here), histories(there));
        assert_eq!((ids(here).len(), ids(there).len()), (4, 4));
        assert_sound(here);
    });
}

/// One step of a random history of two stores.
#[derive(Clone, Debug)]
enum Act {
    Write { side: bool, session: usize, script: &'static str },
    Fork { side: bool, session: usize, at: usize },
    Transfer { forth: bool },
}

fn act() -> impl Strategy<Value = Act> {
    let scripts = prop::sample::select(vec!["u1", "a1 u2", "$", "w $", "u3 c:1", "r:1 a2"]);
    prop_oneof![
        4 => (any::<bool>(), any::<usize>(), scripts)
            .prop_map(|(side, session, script)| Act::Write { side, session, script }),
        2 => (any::<bool>(), any::<usize>(), any::<usize>())
            .prop_map(|(side, session, at)| Act::Fork { side, session, at }),
        2 => any::<bool>().prop_map(|forth| Act::Transfer { forth }),
    ]
}

/// Returns what each session of a store inherits and wrote, as the ids of the events that a fork of
/// it would inherit, with the number of sessions that have them.
fn histories(world: &World) -> BTreeMap<Vec<String>, usize> {
    let mut found = BTreeMap::new();
    for id in ids(world) {
        let log = world.log(id.as_str()).into_iter();
        let inherited = log.filter(|it| it.event.class.is_inherited());
        let key: Vec<_> = inherited.map(|it| it.event.id.to_string()).collect();
        *found.entry(key).or_default() += 1;
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn two_stores_that_both_wrote_have_the_same_histories(acts in prop::collection::vec(act(), 1..25)) {
        let (here, there) = (World::sqlite(), World::files());
        here.session("p", "u0");
        transfer(&here, &there);
        for (number, act) in acts.into_iter().enumerate() {
            match act {
                Act::Write { side, session, script } => {
                    let world = if side { &here } else { &there };
                    let ids = ids(world);
                    let mut batch = events(script);
                    // The worlds draw the same event ids.
                    for (at, event) in batch.iter_mut().enumerate() {
                        event.id = Some(format!("{side}-{number}-{at}").parse().unwrap());
                    }
                    world.engine.append(&ids[session % ids.len()], &batch.into()).unwrap();
                }
                Act::Fork { side, session, at } => {
                    let world = if side { &here } else { &there };
                    let ids = ids(world);
                    let parent = ids[session % ids.len()].clone();
                    let index = world.engine.show(&parent).unwrap().counts.index;
                    let at = Some(Selector::Index(at as u64 % (index + 1)));
                    let id = Some(id(&format!("fork-{side}-{number}")));
                    world.engine.fork(&Fork { at, id, ..Fork::of(parent) }).unwrap();
                }
                Act::Transfer { forth: true } => drop(transfer(&here, &there)),
                Act::Transfer { forth: false } => drop(transfer(&there, &here)),
            }
        }
        let done = [transfer(&here, &there), transfer(&there, &here)];
        prop_assert_eq!(done.iter().flat_map(|it| &it.skipped).next(), None);
        prop_assert_eq!(transfer(&here, &there).sessions, Vec::new());
        prop_assert_eq!(transfer(&there, &here).sessions, Vec::new());
        prop_assert_eq!(histories(&here), histories(&there));
        assert_sound(&here);
        assert_sound(&there);
        let forks = |world: &World| {
            let logs = ids(world).into_iter().filter_map(|id| {
                world.log(id.as_str()).into_iter().next().map(|first| first.event.kind)
            });
            logs.filter(|kind| *kind == EventType::SESSION_FORK).count()
        };
        prop_assert_eq!(forks(&here), forks(&there));
    }
}
