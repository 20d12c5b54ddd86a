//! Reads facts from the path of an ak-coder session file.

use std::path::Path;

use forklore_core::agent_format::FileFacts;
use jiff::Timestamp;

/// Number of hexadecimal digits in the hash that ends a workspace's directory name, after the last
/// `-`.
const HASH: usize = 12;
/// Number of digits of a time in a file name, in milliseconds since 1970. All times from 2001 to
/// 2286 have this number of digits.
const MILLIS: usize = 13;

/// Checks by its path whether the file is in a history directory of ak-coder. Each workspace has
/// its own directory; versions before 0.1.8 have a single directory for all workspaces.
pub(super) fn is_history(path: &Path) -> bool {
    let named = |path: &Path| path.file_name().and_then(std::ffi::OsStr::to_str).map(str::to_owned);
    let names: Vec<_> = path.ancestors().skip(1).take(3).filter_map(named).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    match names.as_slice() {
        [workspace, "workspaces", "history"] => {
            let hash = workspace.rsplit_once('-').map(|(_, hash)| hash);
            hash.is_some_and(|hash| {
                hash.len() == HASH && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
            })
        }
        ["history", ".ak-coder", ..] => true,
        _ => false,
    }
}

/// Reads facts from a session file's name: `session-<time>`, or `fork-<original>-<time>` for a
/// fork. `<time>` is the start time of the session, and `<original>` is the file name of the forked
/// session without its extension.
pub(super) fn facts(path: &Path) -> FileFacts {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let Some((before, time)) = stem.rsplit_once('-') else { return FileFacts::default() };
    if time.len() != MILLIS {
        return FileFacts::default();
    }
    let millis: Option<i64> = time.parse().ok();
    let created = millis.and_then(|millis| Timestamp::from_millisecond(millis).ok());
    let original = before.strip_prefix("fork-").filter(|original| !original.is_empty());
    let copied_from = original.filter(|_| created.is_some()).map(str::to_owned);
    FileFacts { created, copied_from, ..FileFacts::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_identify_the_agent() {
        for (path, is) in [
            ("/h/.ak-coder/history/workspaces/shop-0a1b2c3d4e5f/session-1.jsonl", true),
            ("/h/.ak-coder/history/session-1.jsonl", true),
            ("/h/copy/history/workspaces/shop-0a1b2c3d4e5f/session-1.jsonl", true),
            ("/h/history/workspaces/shop/session-1.jsonl", false),
            ("/h/history/session-1.jsonl", false),
            ("/h/.ak-coder/logs/calls.jsonl", false),
            ("session-1.jsonl", false),
        ] {
            assert_eq!(is_history(Path::new(path)), is, "{path}");
        }
    }

    #[test]
    fn names_tell_times_and_originals() {
        let of = |name: &str| {
            let facts = facts(Path::new(name));
            (facts.created.map(Timestamp::as_millisecond), facts.copied_from)
        };
        let first = "session-1772442000000";
        assert_eq!(of(&format!("{first}.jsonl")), (Some(1_772_442_000_000), None));
        let fork = format!("fork-{first}-1772442060000");
        assert_eq!(of(&format!("{fork}.jsonl")), (Some(1_772_442_060_000), Some(first.into())));
        let nested = format!("fork-{fork}-1772442120000.jsonl");
        assert_eq!(of(&nested), (Some(1_772_442_120_000), Some(fork)));
        for silent in ["mine.jsonl", "fork-of-mine.jsonl", "a-12345678901xx.jsonl", ".jsonl"] {
            assert_eq!(of(silent), (None, None), "{silent}");
        }
    }
}
