//! Tests quoted arguments with a real shell.

#![allow(clippy::unwrap_used)]

use std::process::Command;

use forklore_sanitize::shell::quoted;

#[test]
fn plain_words_stay_as_they_are() {
    for word in ["last", "turn:-1", "/home/me/.claude/projects", "a=b,c@d"] {
        assert_eq!(quoted(word), word);
    }
}

#[cfg(unix)]
#[test]
fn a_shell_gives_every_word_back() {
    let words =
        ["", " ", "it's", "$HOME `id` $(id)", "a\nb", "*", "~", "a;b&c|d>e", "\\", "''", "!"];
    for word in words {
        let script = format!("printf %s {}", quoted(word));
        let output = Command::new("sh").args(["-c", &script]).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), word);
    }
}
