//! Tests of the list, the tree, the picker and the search.

use forklore_ui::{Outcome, Purpose};
use ratatui::crossterm::event::KeyCode;

use crate::stage::{Stage, create, engine, id, world};

#[test]
fn the_list_shows_families_and_the_keys() {
    let mut stage = Stage::of(world(), (100, 12));
    insta::assert_snapshot!("list", stage.screen());
    stage.press(" ");
    insta::assert_snapshot!("list_unfolded", stage.screen());
    stage.press(" a");
    insta::assert_snapshot!("list_of_all_folders", stage.screen());
}

#[test]
fn the_tree_draws_branches_and_opens_them() {
    let mut stage = Stage::of(world(), (100, 10));
    stage.press("t");
    insta::assert_snapshot!("tree", stage.screen());
    stage.press("gj").key(KeyCode::Enter);
    let screen = stage.screen();
    assert!(screen.starts_with(" try-winnow"), "{screen}");
    stage.key(KeyCode::Esc).key(KeyCode::Esc);
    assert!(stage.screen().starts_with(" sessions"), "{}", stage.screen());
    stage.key(KeyCode::Char('q'));
    assert_eq!(stage.outcome, Some(Outcome::Left));
}

#[test]
fn every_key_is_in_the_help() {
    let mut stage = Stage::of(world(), (100, 50));
    stage.press("?");
    insta::assert_snapshot!("help_of_the_list", stage.screen());
    stage.key(KeyCode::Esc).key(KeyCode::Enter).press("?");
    insta::assert_snapshot!("help_of_a_conversation", stage.screen());
    stage.resize(30, 8).press("jj");
    insta::assert_snapshot!("help_on_a_small_screen", stage.screen());
    stage.press("q");
    assert_eq!(stage.outcome, None);
}

#[test]
fn a_search_opens_the_position_of_a_hit() {
    let mut stage = Stage::of(world(), (100, 12));
    stage.press("s").line("winnow");
    insta::assert_snapshot!("hits", stage.screen());
    stage.press("j").key(KeyCode::Enter);
    insta::assert_snapshot!("hit_opened", stage.screen());
    stage.key(KeyCode::Esc).key(KeyCode::Esc).press("s").line("nowhere");
    assert!(stage.screen().contains("nothing found"), "{}", stage.screen());
    stage.key(KeyCode::Esc).press("s").line("regex:(");
    let screen = stage.screen();
    assert!(screen.contains("regular expression"), "{screen}");
}

#[test]
fn a_text_is_found_in_the_list_and_in_the_tree() {
    let engine = world();
    for number in 0..700 {
        create(&engine, &format!("more-{number:03}"), Some(&format!("Number {number}")));
    }
    let mut stage = Stage::of(engine, (60, 8));
    stage.press("/").line("number 5");
    let current = |stage: &mut Stage| {
        stage.screen().lines().find_map(|line| line.strip_prefix('»').map(str::to_owned)).unwrap()
    };
    assert!(current(&mut stage).contains("Number 5"), "{}", stage.screen());
    stage.press("g/").line("number 6").press("gn");
    let first = current(&mut stage);
    stage.press("n");
    assert_ne!(current(&mut stage), first);
    stage.press("N");
    assert_eq!(current(&mut stage), first);
    // Further pages are loaded until it is found.
    stage.press("g/").line("what we know");
    assert!(current(&mut stage).contains("what we know"), "{}", stage.screen());
    stage.press("/").line("nothing such");
    assert!(stage.screen().contains("not found: nothing such"), "{}", stage.screen());
    stage.press("g/").line("which parser").press("t/").line("pest");
    assert!(current(&mut stage).contains("try-pest"), "{}", stage.screen());
}

#[test]
fn the_mouse_selects_opens_and_scrolls() {
    let engine = engine();
    for number in 0..40 {
        create(&engine, &format!("s-{number:02}"), Some(&format!("Number {number:02}")));
    }
    let mut stage = Stage::of(engine, (60, 8));
    stage.wheel(true).click(10, 4);
    insta::assert_snapshot!("list_clicked", stage.screen());
    stage.click(10, 4);
    assert!(stage.screen().starts_with(" main  Number 34"), "{}", stage.screen());
}

#[test]
fn a_session_is_chosen_or_not() {
    let mut stage = Stage::with(world(), (60, 8), Purpose::Choose);
    insta::assert_snapshot!("picker", stage.screen());
    stage.press("j").key(KeyCode::Enter);
    assert_eq!(stage.outcome, Some(Outcome::Chosen(id("notes"))));
    let mut stage = Stage::with(world(), (60, 8), Purpose::Choose);
    stage.press("f").key(KeyCode::Esc);
    assert_eq!(stage.outcome, Some(Outcome::Left));
}

#[test]
fn an_empty_store_says_what_to_do() {
    let mut stage = Stage::of(engine(), (60, 6));
    insta::assert_snapshot!("list_empty", stage.screen());
    stage.press("a");
    assert!(stage.screen().contains("no sessions yet"), "{}", stage.screen());
    stage.press("D");
    assert!(stage.screen().contains("nothing is deleted here"), "{}", stage.screen());
    // Keys for a session do nothing where there is none.
    stage.press("tcfrRLedu");
    assert_eq!(stage.outcome, None);
}
