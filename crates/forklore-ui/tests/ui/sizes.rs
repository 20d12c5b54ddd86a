//! Tests of terminals of every size, and of resizes in the middle.

use ratatui::crossterm::event::KeyCode;

use crate::stage::{Stage, world};

/// The keys that lead to a screen or a dialog.
const WAYS: [&str; 14] =
    ["", "t", "\n", "\nO", "\nE", "tgcjc", "swinnow\n", "?", "f", "\nf", "d", "R", "D", "s"];

fn go(stage: &mut Stage, way: &str) {
    for c in way.chars() {
        stage.key(if c == '\n' { KeyCode::Enter } else { KeyCode::Char(c) });
    }
}

#[test]
fn every_screen_fits_every_size() {
    for way in WAYS {
        let mut stage = Stage::of(world(), (80, 24));
        go(&mut stage, way);
        let sizes =
            [(1, 1), (2, 2), (3, 9), (10, 5), (10, 24), (20, 3), (80, 1), (400, 100), (0, 0)];
        for (columns, rows) in sizes {
            stage.resize(columns, rows);
            let screen = stage.screen();
            let widest = screen.lines().map(|line| {
                let line = line.trim_start_matches('»');
                unicode_width::UnicodeWidthStr::width(line)
            });
            assert!(widest.max().unwrap_or(0) <= usize::from(columns), "{way:?}: {screen}");
            stage.wheel(true).click(0, 0).wheel(false);
            if way.len() > 1 {
                stage.key(KeyCode::Down).key(KeyCode::Up);
            }
        }
    }
}

#[test]
fn screens_at_the_smallest_and_the_largest_width() {
    let mut stage = Stage::of(world(), (10, 8));
    insta::assert_snapshot!("list_10", stage.screen());
    stage.key(KeyCode::Enter).press("g");
    insta::assert_snapshot!("conversation_10", stage.screen());
    stage.key(KeyCode::Esc).resize(400, 8);
    insta::assert_snapshot!("list_400", stage.screen());
    stage.key(KeyCode::Enter).press("g");
    insta::assert_snapshot!("conversation_400", stage.screen());
}

#[test]
fn the_cursor_stays_on_its_message_through_resizes() {
    let mut stage = Stage::of(world(), (80, 12));
    stage.press("\n").key(KeyCode::Enter).press("g").press("JJ");
    let role = |stage: &mut Stage| {
        let screen = stage.screen();
        screen.lines().filter(|line| line.starts_with(['▶', '│'])).collect::<String>()
    };
    assert!(role(&mut stage).contains("user"), "{}", stage.screen());
    for size in [(30, 12), (12, 5), (200, 50), (80, 12)] {
        stage.resize(size.0, size.1);
    }
    assert!(role(&mut stage).contains("user"), "{}", stage.screen());
}
