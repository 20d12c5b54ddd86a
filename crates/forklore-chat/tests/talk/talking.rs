//! Tests of a conversation: forks, returning from forks, and the requests of each session.

use forklore_core::{Data, EventType, SessionKind};
use forklore_engine::{ListRequest, NewEvent};
use forklore_host::Start;

use crate::world::World;

fn only_root(world: &World) -> forklore_core::Header {
    let listing = world.engine().list(&ListRequest::default()).unwrap();
    listing.sessions.into_iter().find(|header| header.kind == SessionKind::Root).unwrap()
}

#[test]
fn one_forks_while_one_talks() {
    let mut world = World::new();
    let shown = world.talk(
        World::start(),
        &[
            "plan A or plan B?",
            "and the cost?",
            "/turns",
            "/fork 1 --label plan-b",
            "let us take B",
            "/back",
            "/switch plan-b",
            "/rewind turn:1",
            "/back",
            "/quit",
        ],
    );
    insta::assert_snapshot!(shown);
    // The request of the fork begins with its parent's messages and has the family's cache key.
    let requests = world.requests.lock().unwrap();
    let [first, second, forked] = &requests[..] else { panic!("{} requests", requests.len()) };
    assert_eq!(forked.messages[..2], second.messages[..2]);
    assert_eq!(first.cache_key, forked.cache_key);
}

#[test]
fn the_program_shows_views_for_commands() {
    let mut world = World::new();
    world.talk(
        World::start(),
        &[
            "hello",
            "/fork --stay --label b",
            "/tree",
            "/branches",
            "/replay 1",
            "/inspect",
            "/stats",
            "/history",
            "/search \"retry backoff\" pars*",
            "/diff b",
            "/bring b",
            "/switch b",
            "and there?",
            "/back",
            "/bring b",
            "/explore what else? -n 2 --judge 'wc -c'",
            "/export 'my file.jsonl' --to pi",
        ],
    );
    insta::assert_snapshot!(world.views.join("\n"));
}

#[test]
fn nothing_is_stored_before_the_first_message() {
    let mut world = World::new();
    let shown = world.talk(World::start(), &["/turns", "/fork", "/nonsense", "/model", "^C"]);
    insta::assert_snapshot!(shown);
    assert_eq!(world.engine().list(&ListRequest::default()).unwrap().sessions, []);
}

#[test]
fn a_model_that_fails_leaves_the_session_to_go_on_with() {
    let mut world = World::new();
    let shown = world.talk(World::start(), &["please fail", "and now?", "/model two", "who?"]);
    insta::assert_snapshot!(shown);
}

#[test]
fn the_second_conversation_is_warned_and_goes_on_in_a_fork() {
    let mut world = World::new();
    world.talk(World::start(), &["hello"]);
    let root = only_root(&world);
    world.engine().take_lease(&root.id, "another terminal").unwrap();
    let start = forklore_host::Start { session: Some(root.id.clone()), ..World::start() };
    let shown = world.talk(start.clone(), &["me too", "y"]);
    insta::assert_snapshot!(shown);
    assert_eq!(world.engine().show(&root.id).unwrap().counts.index, 2);
    // If the user declines the fork, no session is created.
    let before = world.engine().list(&ListRequest::default()).unwrap().sessions.len();
    world.talk(start, &["me too", "n"]);
    assert_eq!(world.engine().list(&ListRequest::default()).unwrap().sessions.len(), before);
}

#[test]
fn sessions_of_other_folders_are_not_resumed_here() {
    let mut world = World::new();
    let elsewhere = forklore_host::Start {
        workspace: forklore_core::workspace::Workspace::new("/other"),
        ..World::start()
    };
    world.talk(elsewhere, &["hello"]);
    let id = only_root(&world).id.to_string();
    let shown = world.talk(World::start(), &[&format!("/resume {id}"), &format!("/switch {id}")]);
    insta::assert_snapshot!(shown);
}

#[test]
fn a_summary_and_its_cost_go_with_a_fork() {
    let mut world = World::new();
    let shown = world.talk(World::start(), &["hello", "/summarize", "/summarize deterministic"]);
    insta::assert_snapshot!(shown);
    assert_eq!(only_root(&world).usage.input, 100);
}

#[test]
fn hostile_text_is_escaped_on_the_screen() {
    let mut world = World::new();
    let hostile = "\u{1b}]0;owned\u{7} \u{1b}[2J \u{202e}txt";
    let shown = world.talk(World::start(), &[hostile, "/turns"]);
    // Do not check the prompt lines, because the terminal itself echoes what the user types.
    let shown: String = shown.lines().filter(|line| !line.starts_with("main> ")).collect();
    for bad in ["\u{1b}", "\u{7}", "\u{202e}"] {
        assert!(!shown.contains(bad), "{bad:?} in {shown:?}");
    }
}

#[test]
fn an_answer_that_was_cut_short_is_reported_and_continued() {
    let mut world = World::new();
    world.talk(World::start(), &["hello"]);
    let id = only_root(&world).id;
    let part = Data::parse(r#"{"content":"one, two,","partial":true}"#).unwrap();
    let part = NewEvent::new(EventType::ASSISTANT_MESSAGE, part);
    let question = NewEvent::user("count").unwrap();
    world.engine().append(&id, &vec![question, part].into()).unwrap();
    let start = Start { session: Some(id), ..World::start() };
    insta::assert_snapshot!(world.talk(start, &["/continue", "/continue", "/turns"]));
}

#[test]
fn commands_are_explained_and_mistyped_ones_understood() {
    let mut world = World::new();
    let lines = ["/help", "/help fork", "/help /bring", "/help frok", "/brnaches", "/sum"];
    let shown = world.talk(World::start(), &lines);
    insta::assert_snapshot!(shown);
}

#[test]
fn a_sub_agent_is_named_so_that_one_can_go_there() {
    let mut world = World::new();
    let shown = world.talk(World::start(), &["hello", "/delegate count to three", "and?"]);
    insta::assert_snapshot!(shown);
}
