//! Tests the guarantees of the escaping functions, for every character and for adversarial texts.

#![allow(clippy::unwrap_used)]

use std::borrow::Cow;

use forklore_sanitize::terminal::{block, cell, is_hostile, json, line};
use proptest::prelude::*;
use regex::Regex;
use unicode_width::UnicodeWidthStr;

/// Returns a pattern of the hostile characters by their Unicode properties. The tables of the regex
/// crate are independent of the tested list.
fn hostile_by_property() -> Regex {
    Regex::new(concat!(
        r"[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]",
        r"--[\p{Prepended_Concatenation_Mark}]]",
    ))
    .unwrap()
}

/// Generates texts that mix special and ordinary characters.
fn nasty() -> impl Strategy<Value = String> {
    let special = prop::sample::select(
        "\0\x07\x08\t\n\r\x1b\x7f\u{85}\u{9b}\u{ad}\u{301}\u{34f}\u{61c}\u{1160}\u{180e}\u{200b}\
         \u{200d}\u{200e}\u{2028}\u{202e}\u{2066}\u{2069}\u{3164}\u{fe0f}\u{feff}\u{fffb}\u{1d173}\
         \u{e0001}\u{e0041}\u{e0100}\\\"u{}"
            .chars()
            .collect::<Vec<_>>(),
    );
    let c = prop_oneof![3 => special, 2 => any::<char>(), 2 => prop::char::range(' ', '~'),
        1 => Just('\u{4e2d}'), 1 => Just('\u{1f469}')];
    prop::collection::vec(c, 0..40).prop_map(String::from_iter)
}

fn hostile_in(text: &str, plain: &[char]) -> Option<char> {
    text.chars().find(|c| is_hostile(*c) && !plain.contains(c))
}

/// Generates JSON documents of nested lists and objects, with hostile text in keys and strings.
fn document() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        nasty().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        any::<bool>().prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::btree_map(nasty(), inner, 0..4)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

#[test]
fn the_list_of_hostile_characters_is_unicodes() {
    let property = hostile_by_property();
    let wrong: Vec<_> = ('\0'..=char::MAX)
        .filter(|c| property.is_match(c.encode_utf8(&mut [0; 4])) != is_hostile(*c))
        .collect();
    assert_eq!(wrong, Vec::<char>::new());
}

#[test]
fn ordinary_text_is_borrowed() {
    let text = "Grüße, 世界: كتاب हिन्दी e\u{301} 👩 \\n C:\\dir";
    assert!(matches!(line(text), Cow::Borrowed(t) if t == text));
    assert!(matches!(cell(text, 80), Cow::Borrowed(t) if t == text));
    let text = "one\n\ttwo";
    assert!(matches!(block(text), Cow::Borrowed(t) if t == text));
    let text = "{\n\t\"a\": \"ä\\n\"}";
    assert!(matches!(json(text), Cow::Borrowed(t) if t == text));
}

#[test]
fn escapes_are_visible() {
    let text = "a\x1b[2Jb\r\nc\rd\te\u{202e}f";
    assert_eq!(block(text), "a\\u{1b}[2Jb\nc\\rd\te\\u{202e}f");
    assert_eq!(line(text), "a\\u{1b}[2Jb\\r\\nc\\rd\\te\\u{202e}f");
    assert_eq!(cell(text, 40), "a\\u{1b}[2Jb c d e\\u{202e}f");
    assert_eq!(line("👩\u{200d}👧"), "👩\\u{200d}👧");
}

#[test]
fn a_mark_needs_a_letter_and_a_letter_bears_no_pile() {
    assert_eq!(line("\u{301}e\u{301}"), "\\u{301}e\u{301}");
    assert_eq!(line("\x1b\u{301}"), "\\u{1b}\\u{301}");
    assert_eq!(block("e\n\u{301}"), "e\n\\u{301}");
    let pile = format!("e{}", "\u{301}".repeat(10));
    assert_eq!(line(&pile), format!("e{}\\u{{301}}\\u{{301}}", "\u{301}".repeat(8)));
}

#[test]
fn a_letter_in_json_bears_no_pile_either() {
    let pile = format!("\"e{}\"", "\u{301}".repeat(10));
    let shown = format!(r#""e{}\u0301\u0301""#, "\u{301}".repeat(8));
    assert_eq!(json(&pile), shown);
    let value = |text: &str| serde_json::from_str::<String>(text).unwrap();
    assert_eq!(value(&shown), value(&pile));
    assert_eq!(json("\u{301}\"\u{1d167}"), "\\u0301\"\u{1d167}");
    assert_eq!(json("\"\x1b\u{1d167}\""), r#""\u001b\ud834\udd67""#);
}

#[test]
fn json_escapes_are_jsons_own() {
    assert_eq!(json("\"\u{7f}\u{9b}\u{202e}\u{e0041}\""), r#""\u007f\u009b\u202e\udb40\udc41""#);
    assert_eq!(json("{\r\n}"), "{ \n}");
    assert_eq!(json("no JSON \x1b]0;x\x07"), r"no JSON \u001b]0;x\u0007");
}

#[test]
fn a_cell_is_cut_at_its_width() {
    let cases = [
        ("hello", 5, "hello"),
        ("hello", 4, "hel\u{2026}"),
        ("hello", 1, "\u{2026}"),
        ("hello", 0, ""),
        ("", 0, ""),
        ("  a \n\t b  ", 9, "a b"),
        ("世界世界", 8, "世界世界"),
        ("世界世界", 7, "世界世\u{2026}"),
        ("世界世界", 6, "世界\u{2026}"),
        ("ab\x1bcd", 10, "ab\\u{1b}cd"),
        ("ab\x1bcd", 9, "ab\\u{1b}\u{2026}"),
        ("ab\x1bcd", 8, "ab\u{2026}"),
        ("one two", 5, "one\u{2026}"),
    ];
    for (text, columns, expected) in cases {
        assert_eq!(cell(text, columns), expected, "{text:?} in {columns}");
    }
}

proptest! {
    #[test]
    fn no_hostile_character_passes(text in nasty(), columns in 0_usize..60) {
        prop_assert_eq!(hostile_in(&block(&text), &['\n', '\t']), None);
        prop_assert_eq!(hostile_in(&line(&text), &[]), None);
        prop_assert_eq!(hostile_in(&cell(&text, columns), &[]), None);
        prop_assert_eq!(hostile_in(&json(&text), &['\n', '\t']), None);
    }

    #[test]
    fn escaping_again_changes_nothing(text in nasty()) {
        let once = block(&text);
        prop_assert!(matches!(block(&once), Cow::Borrowed(t) if t == once));
        let once = line(&text);
        prop_assert!(matches!(line(&once), Cow::Borrowed(t) if t == once));
        let once = json(&text);
        prop_assert!(matches!(json(&once), Cow::Borrowed(t) if t == once));
    }

    #[test]
    fn a_cell_keeps_its_width(text in nasty(), columns in 0_usize..60) {
        let cell = cell(&text, columns);
        prop_assert!(cell.width() <= columns, "{:?} is {} wide", cell, cell.width());
    }

    #[test]
    fn a_cell_loses_nothing_that_fits(text in "[a-z\u{4e00}-\u{4eff}]{0,40}") {
        prop_assert_eq!(cell(&text, text.width()), text.as_str());
    }

    #[test]
    fn json_keeps_its_value(value in document(), pretty: bool) {
        let text = if pretty {
            serde_json::to_string_pretty(&value).unwrap()
        } else {
            serde_json::to_string(&value).unwrap()
        };
        let again: serde_json::Value = serde_json::from_str(&json(&text)).unwrap();
        prop_assert_eq!(again, value);
    }
}
