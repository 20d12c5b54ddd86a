//! Fuzzes the escaping of text for a terminal. The output must contain no character that controls
//! the terminal or is invisible.
#![no_main]

use forklore_sanitize::terminal::{block, cell, is_hostile, json, line};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    for c in block(&text).chars() {
        assert!(matches!(c, '\n' | '\t') || !is_hostile(c), "{c:?} in a block");
    }
    assert!(!line(&text).chars().any(is_hostile));
    for width in [0, 1, 7, 80] {
        assert!(!cell(&text, width).chars().any(is_hostile));
    }
    for c in json(&text).chars() {
        assert!(matches!(c, '\n' | '\t' | '\r') || !is_hostile(c), "{c:?} in JSON");
    }
});
