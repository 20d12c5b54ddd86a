//! Tests of what is drawn.

use forklore_agent::TurnUsage;

use super::*;

fn row(label: &str, answer: &str, score: Option<f64>) -> Row {
    Row {
        session_id: Some(label.parse().unwrap()),
        label: Some(label.parse().unwrap()),
        model: "small".to_owned(),
        prompt: "Name birds.".to_owned(),
        answer: answer.to_owned(),
        state: State::Done,
        usage: TurnUsage { output: 12, ..TurnUsage::default() },
        seconds: 1.25,
        score,
        error: None,
        work: None,
    }
}

fn rows() -> Vec<Row> {
    let long: Vec<String> = (1..=9).map(|n| format!("    line {n}")).collect();
    let failed = Row {
        state: State::Failed,
        error: Some("the model did not answer".to_owned()),
        ..row("try-4", "", None)
    };
    vec![
        row("try-1", "Blue jay and \u{1b}[2J many more words that have to be wrapped", Some(40.0)),
        row("try-2", "計画は 鳥 です。 A robin.\n\nAnd no other.", Some(41.5)),
        row("try-3", &long.join("\n"), Some(1.0)),
        failed,
    ]
}

fn drawn(layout: &mut Layout<'_>, width: usize, height: usize) -> String {
    let lines = layout.lines(width, height);
    assert!(lines.len() <= height, "{lines:?}");
    for line in &lines {
        let plain = line.replace("\u{1b}[7m", "").replace("\u{1b}[27m", "");
        assert!(!plain.contains('\u{1b}') && plain.width() <= width, "{plain:?} at {width}");
    }
    lines.join("\n").replace("\u{1b}[7m", "[").replace("\u{1b}[27m", "]")
}

#[test]
fn answers_stand_side_by_side_as_many_as_fit() {
    let rows = rows();
    let mut layout = Layout::of(&rows, Some(1));
    let wide = drawn(&mut layout, 160, 10);
    layout.go(Key::Right);
    layout.go(Key::PageDown);
    let below = drawn(&mut layout, 80, 9);
    layout.go(Key::Char('4'));
    let failed = drawn(&mut layout, 80, 9);
    layout.go(Key::Left);
    layout.go(Key::Home);
    let narrow = drawn(&mut layout, 30, 8);
    insta::assert_snapshot!([wide, below, failed, narrow].join("\n===\n"));
}

#[test]
fn it_fits_every_size_and_follows_the_keys_to_both_ends() {
    let rows = rows();
    let mut layout = Layout::of(&rows, None);
    for (width, height) in [(2, 1), (10, 3), (20, 4), (37, 5), (400, 100)] {
        for key in [Key::Left, Key::Right, Key::Up, Key::End, Key::Down, Key::Char('9')] {
            layout.go(key);
            drawn(&mut layout, width, height);
        }
    }
    for _ in 0..9 {
        layout.go(Key::Right);
    }
    assert_eq!(layout.chosen, 3);
    for _ in 0..9 {
        layout.go(Key::Left);
    }
    assert_eq!(layout.chosen, 0);
}
