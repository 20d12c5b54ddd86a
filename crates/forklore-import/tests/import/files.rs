//! The session files that tests read: those in `testdata`, and those in the folder that the
//! environment variable `FORKLORE_FIXTURES` names, if it is set.

use std::path::{Path, PathBuf};

use forklore_formats::AGENT_FORMATS;

/// The path of a session file, with its dialect.
pub(crate) type Sample = (PathBuf, &'static str);

pub(crate) fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

/// Returns the content of a file, decompressed if necessary.
pub(crate) fn content(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    if bytes.starts_with(b"\x28\xb5\x2f\xfd") {
        return zstd::decode_all(bytes.as_slice()).unwrap();
    }
    bytes
}

/// Returns all session files that tests read.
pub(crate) fn all() -> Vec<Sample> {
    let mut samples = Vec::new();
    for dialect in AGENT_FORMATS.iter().map(|dialect| dialect.name()) {
        collect(&testdata().join(dialect), dialect, &mut samples);
    }
    if let Some(outside) = outside() {
        for (folder, dialect) in [
            ("claude", "claude"),
            ("_synthetic/claude", "claude"),
            ("codex", "codex"),
            ("gemini", "gemini"),
            ("_synthetic/gemini", "gemini"),
            ("opencode", "opencode"),
            ("_synthetic/opencode", "opencode"),
            ("pi", "pi"),
            ("_synthetic/pi", "pi"),
        ] {
            collect(&outside.join(folder), dialect, &mut samples);
        }
        for entry in std::fs::read_dir(outside.join("_genuine")).into_iter().flatten().flatten() {
            for dialect in ["gemini", "opencode", "pi"] {
                if entry.file_name().to_string_lossy().starts_with(dialect) {
                    collect(&entry.path(), dialect, &mut samples);
                }
            }
        }
    }
    assert!(samples.len() > 30, "testdata is not there");
    samples
}

pub(crate) fn outside() -> Option<PathBuf> {
    std::env::var_os("FORKLORE_FIXTURES").map(PathBuf::from)
}

fn is_session(end: &std::ffi::OsStr, dialect: &str) -> bool {
    let has_documents = matches!(dialect, "gemini" | "opencode" | "plain");
    end == "jsonl" || end == "ndjson" || end == "zst" || (end == "json" && has_documents)
}

fn collect(folder: &Path, dialect: &'static str, samples: &mut Vec<Sample>) {
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, dialect, samples);
        } else if path.extension().is_some_and(|end| is_session(end, dialect)) {
            samples.push((path, dialect));
        }
    }
}
