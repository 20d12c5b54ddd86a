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
        [workspace, "workspaces", "history"] => is_key(workspace),
        ["history", ".ak-coder", ..] => true,
        _ => false,
    }
}

/// Checks whether `name` has the form of the names that ak-coder gives to the directories of
/// workspaces.
fn is_key(name: &str) -> bool {
    let hash = name.rsplit_once('-').map(|(_, hash)| hash);
    hash.is_some_and(|hash| hash.len() == HASH && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Returns the name of the workspace's directory, if the file is in such a directory. The name is
/// derived from the path of the folder in which ak-coder was started.
pub(super) fn workspace_key(path: &Path) -> Option<&str> {
    let folder = path.parent()?;
    let below = folder.parent()?.file_name()?;
    let name = folder.file_name()?.to_str()?;
    (below == "workspaces" && is_key(name)).then_some(name)
}

/// Reads facts from a session file's name: `session-<time>`, `fork-<original>-<time>` for a fork,
/// or `<caller>-depth-<n>-<time>` for a sub-agent. `<time>` is the start time of the session.
/// `<original>` is the file name of the forked session, without the extension. `<caller>` is the
/// file name of the calling session, also without the extension, or `sub` if the calling session
/// has no name. `<n>` is how deep the call is nested.
pub(super) fn facts(path: &Path) -> FileFacts {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let Some((before, time)) = stem.rsplit_once('-') else { return FileFacts::default() };
    if time.len() != MILLIS {
        return FileFacts::default();
    }
    let millis: Option<i64> = time.parse().ok();
    let created = millis.and_then(|millis| Timestamp::from_millisecond(millis).ok());
    if created.is_none() {
        return FileFacts::default();
    }
    if let Some((caller, depth)) = before.rsplit_once("-depth-")
        && !depth.is_empty()
        && depth.bytes().all(|byte| byte.is_ascii_digit())
    {
        let caller = Some(caller).filter(|caller| !matches!(*caller, "" | "sub"));
        return FileFacts { created, caller: caller.map(str::to_owned), ..FileFacts::default() };
    }
    let original = before.strip_prefix("fork-").filter(|original| !original.is_empty());
    FileFacts { created, copied_from: original.map(str::to_owned), ..FileFacts::default() }
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
    fn names_tell_the_callers_of_sub_agents() {
        let of = |name: &str| {
            let facts = facts(Path::new(name));
            (facts.created.is_some(), facts.caller, facts.copied_from)
        };
        let first = "session-1772442000000";
        let child = format!("{first}-depth-1-1772442060000");
        let of_fork = format!("fork-{first}-1772442030000-depth-1-1772442060000.jsonl");
        let none = None::<String>;
        assert_eq!(of(&format!("{child}.jsonl")), (true, Some(first.into()), none.clone()));
        let nested = format!("{child}-depth-2-1772442120000.jsonl");
        assert_eq!(of(&nested), (true, Some(child.clone()), none.clone()));
        let fork = Some(format!("fork-{first}-1772442030000"));
        assert_eq!(of(&of_fork), (true, fork, none.clone()));
        assert_eq!(of("sub-depth-1-1772442060000.jsonl"), (true, None, none));
        let forked = format!("fork-{child}-1772442120000.jsonl");
        assert_eq!(of(&forked), (true, None, Some(child)));
    }

    #[test]
    fn a_workspaces_directory_has_its_key() {
        let key = |path: &str| workspace_key(Path::new(path)).map(str::to_owned);
        let own = "/h/.ak-coder/history/workspaces/shop-0a1b2c3d4e5f/session-1.jsonl";
        assert_eq!(key(own), Some("shop-0a1b2c3d4e5f".to_owned()));
        assert_eq!(key("/h/.ak-coder/history/session-1.jsonl"), None);
        assert_eq!(key("/h/history/workspaces/shop/session-1.jsonl"), None);
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
