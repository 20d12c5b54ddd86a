use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const STRING: usize = 400;

/// Filters `input` in pieces of `piece` bytes. Returns the frames (JSON-RPC messages), and the
/// lines that are not frames.
fn filtered(frame: usize, input: &[u8], piece: usize) -> (String, String) {
    let mut filter = Filter::new(frame, STRING);
    let (mut out, mut noise) = (Vec::new(), Vec::new());
    for bytes in input.chunks(piece.max(1)) {
        filter.push(bytes, &mut out, &mut noise);
    }
    (String::from_utf8(out).unwrap(), String::from_utf8(noise).unwrap())
}

#[test]
fn frames_come_through_and_the_rest_is_set_aside() {
    let input = "hello\n {\"id\":1}\r\n\n[1]\n{\"a\":\"}\\\"{\"}\n";
    let (out, noise) = filtered(100, input.as_bytes(), 3);
    assert_eq!(out, "{\"id\":1}\r\n{\"a\":\"}\\\"{\"}\n");
    assert_eq!(noise, "hello\n[1]\n");
}

#[test]
fn an_endless_frame_becomes_an_error_of_its_call() {
    for (before, after, id) in [
        ("{\"id\":7,\"result\":[", "]}", json!(7)),
        ("{\"result\":[", "], \"id\" : 7 }", json!(7)),
        (
            "{\"result\":{\"id\":8,\"x\":[",
            "]},\"jsonrpc\":\"id\",\"id\":\"a\\\"b\"}",
            json!("a\"b"),
        ),
        ("{\"method\":\"id\",\"result\":[", "]}", Value::Null),
    ] {
        let input = format!("{before}{}0{after}\n{{}}\n", "0,".repeat(100));
        let (out, _) = filtered(50, input.as_bytes(), 7);
        let lines: Vec<_> = out.lines().collect();
        assert_eq!(lines.len(), 3, "{out}");
        assert_eq!(lines[0].len(), 51, "longer than the reader takes");
        let error: Value = serde_json::from_str(lines[1]).unwrap();
        let message = format!(
            "the answer is too large to be read: {} bytes",
            before.len() + 201 + after.len()
        );
        let error_of = json!({"code": -32603, "message": message});
        assert_eq!(error, json!({"jsonrpc": "2.0", "id": id, "error": error_of}));
        assert_eq!(lines[2], "{}");
    }
}

#[test]
fn a_long_string_is_cut_between_characters() {
    for (unit, stored) in [("a", "a"), ("ä", "ä"), ("\\ud83d\\ude00", "\u{1f600}"), ("\\n", "\n")]
    {
        for shift in 0..unit.len() {
            let text = format!("{}{}", "x".repeat(shift), unit.repeat(STRING / unit.len() + 9));
            let (out, _) = filtered(STRING * 9, format!("{{\"t\":\"{text}\"}}\n").as_bytes(), 13);
            let read: Value = serde_json::from_str(&out).unwrap();
            let read = read["t"].as_str().unwrap().trim_start_matches('x');
            let (units, note) = read.rsplit_once('\n').unwrap();
            assert_eq!(units.replace(stored, ""), "");
            let cut =
                text.len() - shift - units.chars().count() / stored.chars().count() * unit.len();
            let counted = format!("[{cut} more bytes were left out]");
            assert_eq!(note, counted, "{unit} {shift}");
            assert!(cut > 0 && cut < text.len() - STRING + 12);
        }
    }
}

proptest! {
    #[test]
    fn what_is_bearable_is_not_changed(text in ".{0,60}", number: i32, piece in 1_usize..20) {
        let frame = json!({"id": number, "t": {"id": text, "l": [text, {}, []]}, "id2": text});
        let input = format!("{frame}\n");
        let (out, noise) = filtered(10_000, input.as_bytes(), piece);
        prop_assert_eq!(out, input);
        prop_assert_eq!(noise, "");
    }

    #[test]
    fn no_bytes_are_too_strange(bytes: Vec<u8>, frame in 0_usize..50, piece in 1_usize..20) {
        let mut filter = Filter::new(frame, STRING);
        let (mut out, mut noise) = (Vec::new(), Vec::new());
        for bytes in bytes.chunks(piece) {
            filter.push(bytes, &mut out, &mut noise);
        }
        prop_assert!(out.len() <= bytes.len() * 150 + 150);
    }
}
