//! Cases: a list of sessions has the most recently updated one first. It can be read in pages, and
//! its filters can be combined.

use forklore_core::SessionKind;
use forklore_core::header::Strategy;
use forklore_core::workspace::Workspace;

use crate::events::{at_tick, turns, user};
use crate::scene::{LONG, Scene, id, label};
use forklore_store::port::{Append, Cursor, Filter, NewSession};

fn list(scene: &Scene<'_>, filter: &Filter) -> Vec<String> {
    let found = scene.store().sessions(filter, None, 0).unwrap().all().unwrap();
    found.into_iter().map(|header| header.id.to_string()).collect()
}

fn family(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.fork("a", "b", 1, vec![]);
    scene.delegate("b", "d", 1, vec![]);
    scene.fork("b", "c", 1, vec![]);
    let elsewhere =
        NewSession { workspace: Workspace::new("/home/me/other"), ..scene.draft("z", vec![]) };
    scene.store().create(elsewhere).unwrap();
}

/// Creates sessions for a test of lists. Several of these sessions were last updated at the same
/// time.
fn ties(scene: &Scene<'_>) {
    for (session, tick) in [("e", 3), ("b", 2), ("d", 2), ("a", 1), ("c", 2), ("B2", 2), ("_", 2)] {
        let new = NewSession { created: at_tick(tick), ..scene.draft(session, vec![]) };
        scene.store().create(new).unwrap();
    }
}

pub(super) fn the_last_updated_comes_first_then_the_id(scene: &Scene<'_>) {
    ties(scene);
    assert_eq!(list(scene, &Filter::default()), ["e", "B2", "_", "b", "c", "d", "a"]);
}

pub(super) fn an_append_moves_a_session_to_the_front(scene: &Scene<'_>) {
    ties(scene);
    let append = Append { now: at_tick(9), ..scene.appending(vec![user("hi")]) };
    scene.store().append(&id("c"), append).unwrap();
    assert_eq!(list(scene, &Filter::default()), ["c", "e", "B2", "_", "b", "d", "a"]);
}

pub(super) fn pages_of_any_size_make_the_same_list(scene: &Scene<'_>) {
    ties(scene);
    let whole = scene.store().sessions(&Filter::default(), None, 0).unwrap().all().unwrap();
    for limit in 1..=8 {
        let mut paged = Vec::new();
        loop {
            let after = paged.last().map(Cursor::behind);
            let page = scene
                .store()
                .sessions(&Filter::default(), after.as_ref(), limit)
                .unwrap()
                .all()
                .unwrap();
            assert!(page.len() <= limit);
            if page.is_empty() {
                break;
            }
            paged.extend(page);
        }
        assert_eq!(paged, whole);
    }
}

pub(super) fn a_cursor_outlives_its_session(scene: &Scene<'_>) {
    ties(scene);
    let cursor = Cursor::behind(&scene.header("b"));
    scene.delete("b");
    let rest = scene.store().sessions(&Filter::default(), Some(&cursor), 0).unwrap().all().unwrap();
    assert_eq!(rest.iter().map(|header| header.id.as_str()).collect::<Vec<_>>(), ["c", "d", "a"]);
}

pub(super) fn each_filter_finds_its_sessions(scene: &Scene<'_>) {
    family(scene);
    let all = Filter::default;
    let since = Some(scene.header("d").updated);
    for (filter, want) in [
        (all(), vec!["z", "c", "d", "b", "a"]),
        (Filter { family: Some(id("a")), ..all() }, vec!["c", "d", "b", "a"]),
        (Filter { family: Some(id("b")), ..all() }, vec![]),
        (Filter { workspace: Some(Workspace::new("/home/me/other")), ..all() }, vec!["z"]),
        (Filter { parent: Some(id("b")), ..all() }, vec!["c", "d"]),
        (Filter { label: Some(label("main")), ..all() }, vec!["z", "a"]),
        (Filter { kinds: vec![SessionKind::Root], ..all() }, vec!["z", "a"]),
        (
            Filter { kinds: vec![SessionKind::Branch, SessionKind::Delegate], ..all() },
            vec!["c", "d", "b"],
        ),
        (Filter { since, ..all() }, vec!["z", "c", "d"]),
    ] {
        assert_eq!(list(scene, &filter), want, "{filter:?}");
    }
}

pub(super) fn filters_add_up(scene: &Scene<'_>) {
    family(scene);
    let filter = Filter {
        family: Some(id("a")),
        parent: Some(id("b")),
        kinds: vec![SessionKind::Branch],
        workspace: Some(Workspace::new("/home/me/demo")),
        label: Some(label("c")),
        id_part: Some("c".into()),
        ..Filter::default()
    };
    assert_eq!(list(scene, &filter), ["c"]);
    let none = Filter { workspace: Some(Workspace::new("/home/me/other")), ..filter };
    assert_eq!(list(scene, &none), Vec::<String>::new());
}

pub(super) fn a_part_of_an_id_is_no_pattern(scene: &Scene<'_>) {
    for session in ["plan-1", "plan-2", "my-plan", "a_b", "axb", "Plan-3", "plan"] {
        scene.root(session, vec![]);
    }
    for (part, want) in [
        ("plan-", vec!["plan-2", "plan-1"]),
        ("plan", vec!["plan", "my-plan", "plan-2", "plan-1"]),
        ("a_", vec!["a_b"]),
        ("_b", vec!["a_b"]),
        ("%", vec![]),
        ("an-", vec![]),
        ("*", vec![]),
        ("' OR 1=1 --", vec![]),
    ] {
        let filter = Filter { id_part: Some(part.into()), ..Filter::default() };
        assert_eq!(list(scene, &filter), want, "{part}");
    }
}

pub(super) fn titles_are_found_by_their_beginning(scene: &Scene<'_>) {
    for (session, title) in [
        ("ascii", Some("Fix the parser")),
        ("spaces", Some("  fix the tests ")),
        ("pattern", Some("100% of_it")),
        ("turkish", Some("İstanbul")),
        ("kelvin", Some("\u{212a}elvin")),
        ("back", Some("a\\b")),
        ("fix", None),
    ] {
        let title = title.map(str::to_owned);
        scene.store().create(NewSession { title, ..scene.draft(session, vec![]) }).unwrap();
    }
    for (prefix, want) in [
        ("fix the", vec!["spaces", "ascii"]),
        (" FIX THE P", vec!["ascii"]),
        ("fix the parser", vec!["ascii"]),
        ("the", vec![]),
        ("100%", vec!["pattern"]),
        ("1%", vec![]),
        ("100% of-", vec![]),
        ("İST", vec!["turkish"]),
        ("kel", vec!["kelvin"]),
        ("a\\", vec!["back"]),
        ("%", vec![]),
        ("' OR 1=1 --", vec![]),
    ] {
        let filter = Filter { title_prefix: Some(prefix.into()), ..Filter::default() };
        assert_eq!(list(scene, &filter), want, "{prefix}");
    }
}

pub(super) fn workspaces_that_look_alike_stay_apart(scene: &Scene<'_>) {
    for (session, path) in [("a", "/x/a b"), ("b", "/x/a_b"), ("c", "/x/A b"), ("d", "/x/a b/c")] {
        let new = NewSession { workspace: Workspace::new(path), ..scene.draft(session, vec![]) };
        scene.store().create(new).unwrap();
    }
    let filter = Filter { workspace: Some(Workspace::new("/x/a b/")), ..Filter::default() };
    assert_eq!(list(scene, &filter), ["a"]);
}

pub(super) fn deleted_sessions_are_listed_on_request(scene: &Scene<'_>) {
    family(scene);
    scene.delete("b");
    assert_eq!(list(scene, &Filter::default()), ["z", "c", "d", "a"]);
    let children = Filter { parent: Some(id("a")), deleted: true, ..Filter::default() };
    assert_eq!(list(scene, &children), ["b"]);
    let mut with_deleted = list(scene, &Filter { deleted: true, ..Filter::default() });
    with_deleted.sort();
    assert_eq!(with_deleted, ["a", "b", "c", "d", "z"]);
}

pub(super) fn a_list_gives_whole_headers(scene: &Scene<'_>) {
    family(scene);
    let new = scene.child_draft("c", "e", 1, Strategy::ReplayV1, turns(2));
    scene.store().create(new).unwrap();
    scene.detach("c");
    scene.hold("a", "run", LONG).unwrap();
    for header in scene.store().sessions(&Filter::default(), None, 0).unwrap().all().unwrap() {
        assert_eq!(header, scene.header(header.id.as_str()));
    }
}
