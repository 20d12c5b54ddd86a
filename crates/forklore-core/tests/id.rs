//! Tests the parsing of ids and labels, also with hostile strings.
#![allow(clippy::unwrap_used)]

use std::collections::HashSet;

use forklore_core::{EventId, Label, SessionId, SessionKind};
use proptest::prelude::*;
use unicode_normalization::is_nfc;

/// Generates strings of ordinary characters and of characters that the grammar treats specially.
fn nasty() -> impl Strategy<Value = String> {
    let special = "/\\.:*?\"<>|%$ \t\r\n\0\x1b\u{7f}\u{85}\u{301}\u{345}\u{200b}\u{200d}\u{202e}\
                   \u{2028}\u{feff}-_~İıſßŉǰΐΣςﬁⅷⓐ１Ａ\u{1f600}";
    let special = prop::sample::select(special.chars().collect::<Vec<_>>());
    let c = prop_oneof![2 => special, 1 => any::<char>(), 4 => prop::char::range('0', 'z')];
    prop::collection::vec(c, 0..12).prop_map(String::from_iter)
}

/// Generates strings that match the grammar of ids.
fn proper() -> impl Strategy<Value = String> {
    "[\\p{L}\\p{Nd}_][\\p{L}\\p{Nd}_.-]{0,30}"
        .prop_filter("composed and not reserved", |text| {
            is_nfc(text) && !text.eq_ignore_ascii_case("last")
        })
        .prop_filter("alphanumeric in this Unicode version", |text| {
            text.chars().all(|c| c.is_alphanumeric() || "_.-".contains(c))
        })
}

proptest! {
    #[test]
    fn nothing_that_parses_can_leave_a_folder(text in nasty()) {
        if let Ok(id) = text.parse::<SessionId>() {
            prop_assert_eq!(id.as_str(), &text);
            prop_assert!(!text.is_empty() && text.len() <= 235 && is_nfc(&text));
            prop_assert!(!text.starts_with(['.', '-']));
            let unsafe_char = |c: char| c.is_control() || c.is_whitespace() || "/\\:*?\"<>|%$~".contains(c);
            prop_assert!(!text.contains(unsafe_char));
        }
    }

    #[test]
    fn a_refusal_never_repeats_the_text(text in nasty()) {
        if let Err(error) = text.parse::<SessionId>() {
            let shown = error.to_string();
            prop_assert!(shown.chars().all(|c| c.is_ascii() && !c.is_control()), "{shown:?}");
        }
    }

    #[test]
    fn every_text_of_the_grammar_parses(text in proper()) {
        let id: SessionId = text.parse().unwrap();
        let json = serde_json::to_string(&id).unwrap();
        prop_assert_eq!(serde_json::from_str::<SessionId>(&json).unwrap(), id);
        prop_assert_eq!(text.parse::<Label>().is_ok(), text.len() <= 64);
    }

    #[test]
    fn case_never_tells_ids_apart(text in proper()) {
        let id: SessionId = text.parse().unwrap();
        for other in [text.to_lowercase(), text.to_uppercase(), id.fold()] {
            if let Ok(other) = other.parse::<SessionId>() {
                prop_assert_eq!(other.fold(), id.fold());
            }
        }
    }

    #[test]
    fn folding_goes_by_the_text_alone(a in proper(), b in proper()) {
        let fold = |text: &str| text.parse::<SessionId>().unwrap().fold();
        if a.to_lowercase() == b.to_lowercase() {
            prop_assert_eq!(fold(&a), fold(&b));
        }
        if a.is_ascii() && b.is_ascii() {
            prop_assert_eq!(fold(&a) == fold(&b), a.eq_ignore_ascii_case(&b));
        }
    }

    #[test]
    fn event_ids_hold_anything_but_controls(text in nasty()) {
        let proper = !text.is_empty() && !text.chars().any(char::is_control);
        prop_assert_eq!(text.parse::<EventId>().is_ok(), proper);
    }

    #[test]
    fn made_up_ids_are_ids(millis in 0..1u64 << 48, random: [u8; 10], text in proper(), number: u64) {
        let session = SessionId::generate(millis, random);
        prop_assert_eq!(session.as_str().parse::<SessionId>().unwrap(), session.clone());
        let event = EventId::derived(&session, number);
        prop_assert_eq!(event.as_str().parse::<EventId>().unwrap(), event.clone());
        prop_assert_eq!(EventId::derived(&session, number), event);
        let derived = SessionId::derived("claude", &[&text, "1"]).unwrap();
        prop_assert_eq!(derived.as_str().len(), "claude-".len() + 16);
        let id: SessionId = text.parse().unwrap();
        for kind in [SessionKind::Branch, SessionKind::Delegate] {
            let attempts = (0..100).chain([usize::MAX - 1, usize::MAX]);
            let labels: Vec<_> = attempts.map(|at| Label::of_child(kind, &id, at)).collect();
            for label in &labels {
                prop_assert_eq!(&label.as_str().parse::<Label>().unwrap(), label);
            }
            // Whatever labels of a family are in use, another default label is free.
            prop_assert_eq!(labels.iter().collect::<HashSet<_>>().len(), labels.len());
        }
    }

    #[test]
    fn generated_ids_begin_with_the_last_random_bits(millis in 0..1u64 << 48, random: [u8; 10]) {
        let id = SessionId::generate(millis, random);
        let [.., third, second, first] = random;
        let beginning = format!("{first:02x}{second:02x}{third:02x}");
        prop_assert!(id.as_str().starts_with(&beginning), "{id} {beginning}");
    }
}
