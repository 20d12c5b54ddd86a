//! Tests of what changes the store: forks, labels, titles, deletes and their undo, also by other
//! programs.

use forklore_core::SessionId;
use forklore_engine::{Delete, DeleteMode};
use forklore_ui::{Outcome, Purpose};
use ratatui::crossterm::event::KeyCode;

use crate::stage::{Stage, append, create, id, world};

fn delete(stage: &Stage, session: &str) {
    let mode = DeleteMode::DetachChildren;
    let delete = Delete { session: id(session), mode, dry_run: false, erase: false };
    stage.engine.delete(&delete).unwrap();
}

fn living(stage: &Stage) -> Vec<String> {
    let filter = forklore_store::port::Filter::default();
    let found = stage.engine.store().sessions(&filter, None, 0).unwrap().sound;
    let mut names: Vec<_> = found.into_iter().map(|header| header.id.to_string()).collect();
    names.sort();
    names
}

#[test]
fn a_fork_begins_at_the_cursor() {
    let mut stage = Stage::with(world(), (80, 20), Purpose::Read(id("plan")));
    stage.press("gjjjjjf");
    insta::assert_snapshot!("fork_menu", stage.screen());
    stage.press("h").line("from-here");
    insta::assert_snapshot!("forked", hide_id(&stage.screen()));
    let forked = child(&stage, "from-here");
    // The call that is open there has a synthetic result.
    assert_eq!(stage.engine.show(&forked).unwrap().counts.index, 3);
    stage.key(KeyCode::Enter);
    assert!(stage.screen().starts_with(" from-here"), "{}", stage.screen());
    // Behind the whole turn, with a default label; then it is continued.
    stage.press("gft").key(KeyCode::Enter).press("r");
    let Some(Outcome::Resume(session)) = &stage.outcome else { panic!("{:?}", stage.outcome) };
    assert_eq!(stage.engine.show(session).unwrap().parent_id, Some(forked));
}

fn child(stage: &Stage, label: &str) -> SessionId {
    let scope = forklore_engine::Scope::default();
    stage.engine.resolve(&format!("plan@{label}"), &scope).unwrap().id
}

/// Replaces the generated id of a fork.
fn hide_id(screen: &str) -> String {
    let words = screen.split_inclusive(' ');
    words.map(|word| if word.matches('-').count() == 4 { "ID " } else { word }).collect()
}

#[test]
fn a_label_that_is_in_use_or_no_label_is_refused() {
    let mut stage = Stage::of(world(), (80, 10));
    stage.press("tgL").ctrl('u').line("try-winnow");
    assert!(stage.screen().contains("try-winnow"), "{}", stage.screen());
    assert_eq!(stage.engine.show(&id("plan")).unwrap().label.as_str(), "main");
    stage.press("L").ctrl('u').line("two words");
    assert!(stage.screen().contains("not a label"), "{}", stage.screen());
    stage.press("L").ctrl('u').line("trunk");
    assert!(stage.screen().contains("labelled trunk"), "{}", stage.screen());
    assert_eq!(stage.engine.show(&id("plan")).unwrap().label.as_str(), "trunk");
    stage.press("j");
    assert!(stage.screen().contains("trunk"), "{}", stage.screen());
}

#[test]
fn a_title_is_replaced_and_removed() {
    let mut stage = Stage::of(world(), (80, 10));
    stage.press("e").ctrl('u').line("Release 2");
    let title = |stage: &Stage| stage.engine.show(&id("plan-c")).unwrap().title;
    assert_eq!(title(&stage).as_deref(), Some("Release 2"));
    assert!(stage.screen().contains("»  +2 Release 2") || stage.screen().contains("+2 Release 2"));
    stage.press("e").ctrl('u').key(KeyCode::Enter);
    assert_eq!(title(&stage), None);
    assert!(stage.screen().contains("the title is removed"), "{}", stage.screen());
}

#[test]
fn a_delete_is_confirmed_and_undone() {
    let mut stage = Stage::of(world(), (80, 12));
    stage.press("jd");
    insta::assert_snapshot!("delete_menu", stage.screen());
    stage.key(KeyCode::Enter);
    assert_eq!(living(&stage).len(), 4);
    stage.press("dy").follow();
    assert_eq!(living(&stage), ["plan", "plan-b", "plan-c"]);
    insta::assert_snapshot!("deleted", stage.screen());
    stage.press("u").follow();
    assert_eq!(living(&stage), ["notes", "plan", "plan-b", "plan-c"]);
    let cursor = stage.screen().lines().find(|line| line.starts_with('»')).map(str::to_owned);
    assert!(cursor.unwrap().contains("write down"), "{}", stage.screen());
    stage.press("u");
    assert!(stage.screen().contains("nothing was deleted here yet"), "{}", stage.screen());
}

#[test]
fn a_session_that_others_continue_is_deleted_alone_or_with_them() {
    let mut stage = Stage::of(world(), (80, 12));
    // The one question that is shown offers what can be done, and does nothing by default.
    stage.press("tgd");
    insta::assert_snapshot!("delete_with_children", stage.screen());
    stage.key(KeyCode::Enter);
    assert_eq!(living(&stage).len(), 4);
    stage.press("dy");
    assert_eq!(living(&stage).len(), 4);
    stage.press("o").follow();
    assert_eq!(living(&stage), ["notes", "plan-b", "plan-c"]);
    insta::assert_snapshot!("tree_with_deleted", stage.screen());
    stage.press("u").follow();
    assert_eq!(living(&stage).len(), 4);
    stage.press("gda").follow();
    assert_eq!(living(&stage), ["notes"]);
    stage.key(KeyCode::Esc).press("u").follow();
    assert_eq!(living(&stage).len(), 4);
}

#[test]
fn deleted_sessions_are_listed_and_brought_back() {
    let mut stage = Stage::of(world(), (80, 8));
    delete(&stage, "notes");
    stage.follow().press("D");
    insta::assert_snapshot!("trash", stage.screen());
    stage.press("u");
    assert!(stage.screen().contains("brought back 1 session"), "{}", stage.screen());
    stage.key(KeyCode::Esc);
    assert!(stage.screen().contains("write down"), "{}", stage.screen());
}

#[test]
fn what_others_do_appears_at_once() {
    let mut stage = Stage::of(world(), (80, 10));
    let engine = stage.engine.clone();
    create(&engine, "new", Some("Brand new"));
    append(&engine, "notes", &[("user_message", r#"{"content":"more"}"#)]);
    stage.follow();
    let screen = stage.screen();
    assert!(screen.contains("Brand new") && screen.contains("2  just now"), "{screen}");
    delete(&stage, "new");
    stage.follow();
    assert!(!stage.screen().contains("Brand new"), "{}", stage.screen());
    // A session that vanishes while it is read says so.
    stage.press("/").line("write down").key(KeyCode::Enter);
    delete(&stage, "notes");
    stage.follow();
    assert!(stage.screen().contains("this session was deleted"), "{}", stage.screen());
    stage.press("GgjkOE").key(KeyCode::PageDown).key(KeyCode::Esc);
    let screen = stage.screen();
    assert!(screen.starts_with(" sessions") && !screen.contains("write down"), "{screen}");
    // So does one that vanishes before it is opened.
    delete(&stage, "plan-c");
    stage.key(KeyCode::Enter);
    assert!(
        stage.screen().contains("trash") || stage.screen().contains("deleted"),
        "{}",
        stage.screen()
    );
}

#[test]
fn a_comparison_says_that_a_session_vanished() {
    let mut stage = Stage::of(world(), (80, 12));
    stage.press("tgcjc");
    delete(&stage, "plan-b");
    stage.follow();
    assert!(stage.screen().contains("a session was deleted"), "{}", stage.screen());
}

#[test]
fn a_click_in_a_menu_moves_the_cursor_and_a_second_one_acts() {
    let mut stage = Stage::of(world(), (80, 12));
    stage.press("tgd");
    let shown = stage.screen();
    let row = shown.lines().position(|line| line.contains("delete only this one")).unwrap();
    let row = u16::try_from(row).unwrap();
    stage.click(20, row).follow();
    assert_eq!(living(&stage).len(), 4);
    stage.click(20, row).follow();
    assert_eq!(living(&stage), ["notes", "plan-b", "plan-c"]);
}
