//! The folders in which known agents keep their sessions.

use std::path::Path;

use etcetera::home_dir;
use forklore::store::health::{Health, Status};

use crate::output::count;

/// Who keeps sessions where below the home directory.
const KNOWN: [(&str, &str); 3] = [
    ("Claude Code", ".claude/projects"),
    ("Codex", ".codex/sessions"),
    ("Pi", ".pi/agent/sessions"),
];
/// Folders below that are looked into, and files that are counted.
const DEPTH: usize = 4;
const COUNTED: u64 = 10_000;

/// Says which agents have sessions here; a folder that is not there is no news.
pub(super) fn look(health: &mut Health) {
    let Ok(home) = home_dir() else { return };
    for (agent, folder) in KNOWN {
        let path = home.join(folder);
        if !path.is_dir() {
            continue;
        }
        let mut files = 0;
        count_files(&path, DEPTH, &mut files);
        let more = if files >= COUNTED { "at least " } else { "" };
        let message = format!("{agent}: {more}{} in ~/{folder}", count(files, "session file"));
        let hint = (files > 0).then(|| format!("forklore import ~/{folder}"));
        health.add("agent", Status::Ok, message, hint, None);
    }
}

/// Counts the files that could be sessions; what cannot be read is passed over.
fn count_files(folder: &Path, depth: usize, files: &mut u64) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if *files >= COUNTED {
            return;
        }
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth > 1 {
            count_files(&entry.path(), depth - 1, files);
        } else if kind.is_file() && entry.path().extension().is_some_and(|end| end == "jsonl") {
            *files += 1;
        }
    }
}
