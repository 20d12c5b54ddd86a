//! Tests of the conversation and of the comparison.

use forklore_ui::{Outcome, Purpose};
use ratatui::crossterm::event::KeyCode;

use crate::stage::{Stage, append, create, engine, id, world};

fn reader(size: (u16, u16)) -> Stage {
    Stage::with(world(), size, Purpose::Read(id("plan")))
}

#[test]
fn a_conversation_has_its_calls_folded() {
    let mut stage = reader((70, 26));
    stage.press("g");
    insta::assert_snapshot!("conversation", stage.screen());
    // The cursor is on the message with the call.
    stage.press("jjjjj").key(KeyCode::Enter);
    insta::assert_snapshot!("conversation_unfolded", stage.screen());
    stage.press("O");
    insta::assert_snapshot!("conversation_unfolded_whole", stage.screen());
    stage.press("OE");
    insta::assert_snapshot!("conversation_with_all_events", stage.screen());
}

#[test]
fn a_fork_shows_who_wrote_what() {
    let mut stage = Stage::with(world(), (70, 30), Purpose::Read(id("plan-b")));
    insta::assert_snapshot!("conversation_of_a_fork", stage.screen());
}

/// Creates a session of 3,000 turns.
fn long() -> forklore_engine::Engine {
    let engine = engine();
    create(&engine, "long", Some("Long"));
    for chunk in 0..30 {
        let events: Vec<_> = (0..100)
            .flat_map(|turn| {
                let turn = chunk * 100 + turn;
                [
                    ("user_message", format!(r#"{{"content":"question {turn}"}}"#)),
                    (
                        "assistant_message",
                        format!(r#"{{"content":"answer {turn}\nin two lines"}}"#),
                    ),
                ]
            })
            .collect();
        let events: Vec<_> = events.iter().map(|(kind, data)| (*kind, data.as_str())).collect();
        append(&engine, "long", &events);
    }
    engine
}

/// Returns the line at the cursor.
fn current(stage: &mut Stage) -> String {
    let screen = stage.screen();
    let line = screen.lines().find_map(|line| line.strip_prefix('▶'));
    line.unwrap_or_else(|| panic!("no cursor:\n{screen}"))
        .trim_end_matches(['│', '█', ' '])
        .to_owned()
}

#[test]
fn one_reads_turns_and_finds_in_a_long_session() {
    let mut stage = Stage::with(long(), (60, 20), Purpose::Read(id("long")));
    assert_eq!(current(&mut stage), "   in two lines");
    stage.press("gj");
    assert!(current(&mut stage).contains("turn 1 "), "{}", stage.screen());
    stage.press("J");
    assert!(current(&mut stage).contains("turn 2 "));
    stage.press(":").line("1500");
    assert!(current(&mut stage).contains("turn 1500"), "{}", stage.screen());
    stage.press("K");
    assert!(current(&mut stage).contains("turn 1499"));
    stage.press("jj").press("K");
    assert!(current(&mut stage).contains("turn 1499"));
    stage.press("/").line("question 7");
    assert!(stage.screen().contains("question 1500") || stage.screen().contains("question 7"));
    let screen = stage.screen();
    assert!(screen.contains("the search went on") || screen.contains("question 17"), "{screen}");
    stage.press("g/").line("ANSWER 2999");
    assert!(stage.screen().contains("not found"), "{}", stage.screen());
    stage.press("/").line("answer 2999");
    let screen = stage.screen();
    assert!(screen.contains("answer 2999") && current(&mut stage).starts_with("5999"), "{screen}");
    // From the end, the search goes on at the beginning, and back.
    stage.press("/").line("two lines");
    assert!(current(&mut stage).starts_with("1  assistant"), "{}", stage.screen());
    stage.press("N");
    assert!(current(&mut stage).starts_with("5999"), "{}", stage.screen());
    stage.press("N");
    assert!(current(&mut stage).starts_with("5997"), "{}", stage.screen());
    stage.press(":").line("x");
    assert!(stage.screen().contains("not the number of a turn: x"));
}

#[test]
fn pages_move_by_screens_both_ways() {
    let mut stage = Stage::with(long(), (60, 20), Purpose::Read(id("long")));
    stage.press("g");
    let first = stage.screen();
    for _ in 0..400 {
        stage.key(KeyCode::PageDown);
    }
    let far = stage.screen();
    assert_ne!(first, far);
    stage.ctrl('d').ctrl('u');
    assert_eq!(stage.screen(), far);
    for _ in 0..500 {
        stage.key(KeyCode::PageUp);
    }
    assert_eq!(stage.screen(), first);
    stage.press("G");
    let last = stage.screen();
    assert!(last.contains("answer 2999"), "{last}");
    for _ in 0..100 {
        stage.wheel(false);
    }
    for _ in 0..100 {
        stage.wheel(true);
    }
    assert!(stage.screen().contains("answer 2999"), "{}", stage.screen());
}

#[test]
fn what_is_appended_meanwhile_appears() {
    let mut stage = reader((70, 12));
    append(&stage.engine.clone(), "plan", &[("user_message", r#"{"content":"one thing more"}"#)]);
    stage.follow();
    assert!(stage.screen().contains("one thing more"), "{}", stage.screen());
    // Further up, the screen stays where it is.
    stage.press("g");
    let before = stage.screen();
    append(&stage.engine.clone(), "plan", &[("user_message", r#"{"content":"and another"}"#)]);
    stage.follow();
    let screen = stage.screen();
    assert_eq!(
        screen.lines().skip(1).collect::<Vec<_>>(),
        before.lines().skip(1).collect::<Vec<_>>()
    );
    stage.press("G");
    assert!(stage.screen().contains("and another"), "{}", stage.screen());
}

#[test]
fn two_branches_stand_next_to_each_other() {
    let mut stage = Stage::of(world(), (90, 16));
    stage.press("tgc");
    assert!(stage.screen().contains("press c on another session"), "{}", stage.screen());
    stage.press("jc");
    insta::assert_snapshot!("comparison", stage.screen());
    stage.resize(40, 12);
    insta::assert_snapshot!("comparison_on_a_small_screen", stage.screen());
    stage.press("jkGg").key(KeyCode::Esc).press("cc");
    assert!(stage.screen().contains("no longer marked"), "{}", stage.screen());
}

#[test]
fn long_branches_are_compared_page_by_page() {
    let engine = long();
    crate::stage::fork(&engine, "long", "turn:1000", "other", "other");
    for turn in 0..300 {
        let data = format!(r#"{{"content":"other {turn}"}}"#);
        append(&engine, "other", &[("user_message", &data)]);
    }
    let mut stage = Stage::of(engine, (90, 16));
    stage.press("tgcjc");
    let first = stage.screen();
    assert!(first.contains("2,000 messages in common") && first.contains("other 0"), "{first}");
    stage.press("G");
    assert!(stage.screen().contains("answer 2999"), "{}", stage.screen());
    stage.press("g");
    assert_eq!(stage.screen(), first);
    for _ in 0..60 {
        stage.key(KeyCode::PageDown);
    }
    let far = stage.screen();
    assert!(far.contains("question 1") && !far.contains("question 1000"), "{far}");
}

#[test]
fn one_leaves_to_continue_here_or_in_an_agent() {
    let mut stage = reader((70, 12));
    stage.press("r");
    assert_eq!(stage.outcome, Some(Outcome::Resume(id("plan"))));
    let mut stage = reader((70, 12));
    stage.press("R");
    insta::assert_snapshot!("agents", stage.screen());
    stage.press("j").key(KeyCode::Enter);
    let (agent, session) = ("codex".to_owned(), id("plan"));
    assert_eq!(stage.outcome, Some(Outcome::ResumeIn { agent, session }));
}
