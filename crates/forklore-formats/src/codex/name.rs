//! Reads ids from the names of Codex's files, and names of sessions from Codex's index.

use std::path::Path;

use serde::Deserialize;

use crate::lenient::Text;

/// Length in bytes of the time in a session file's name, with the hyphen after it.
const TIME: usize = "2026-01-01T00-00-00-".len();

/// The names of the directories in which Codex stores session files.
pub(super) const FOLDERS: [&str; 2] = ["sessions", "archived_sessions"];

/// The ids in the name of a Codex session file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rollout<'a> {
    /// The id of the conversation, which Codex calls a thread.
    pub(super) thread: &'a str,
    /// The id of the file. It differs from the conversation's id if the user reverted the
    /// conversation, because a revert starts a new file.
    pub(super) file: &'a str,
}

/// Parses the name of a session file: `rollout-<time>-<thread>.jsonl` or
/// `rollout-<time>-<thread>_<file>.jsonl`, both also with `.zst` at the end. Returns `None` for a
/// name of another form.
pub(super) fn rollout(path: &Path) -> Option<Rollout<'_>> {
    let name = path.file_name()?.to_str()?;
    let name = name.strip_suffix(".zst").unwrap_or(name).strip_suffix(".jsonl")?;
    let ids = name.strip_prefix("rollout-")?.get(TIME..)?;
    let (thread, file) = ids.split_once('_').unwrap_or((ids, ids));
    (is_uuid(thread) && is_uuid(file)).then_some(Rollout { thread, file })
}

/// Checks whether the file at `path` has the name of a session file of the first versions of Codex:
/// `rollout-<date>-<id>.json`, one JSON document.
pub(super) fn is_document(path: &Path) -> bool {
    let name = path.file_name().and_then(std::ffi::OsStr::to_str);
    name.is_some_and(|name| name.starts_with("rollout-") && name.ends_with(".json"))
}

fn is_uuid(text: &str) -> bool {
    let fits = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    text.len() == 36 && text.bytes().enumerate().all(fits)
}

/// Returns the Codex home directory (such as `~/.codex`) that contains the session file at `path`.
/// Returns `None` if the file is in no directory for session files ([`FOLDERS`]).
pub(super) fn home(path: &Path) -> Option<&Path> {
    let holds = |folder: &&Path| {
        let name = folder.file_name().and_then(std::ffi::OsStr::to_str);
        name.is_some_and(|name| FOLDERS.contains(&name))
    };
    path.ancestors().skip(1).take(4).find(holds)?.parent()
}

/// Parses a line of `session_index.jsonl`, Codex's list of session names. Returns a session's id
/// and name. Returns `None` if the line lacks one of them.
pub(super) fn given(line: &str) -> Option<(String, String)> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Named<'a> {
        #[serde(borrow)]
        id: Text<'a>,
        #[serde(borrow)]
        thread_name: Text<'a>,
    }
    let named: Named<'_> = serde_json::from_str(line).ok()?;
    Some((named.id.to_owned()?, named.thread_name.get()?.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "01a1ffec-705a-7580-a2e1-49e6a681cc47";
    const B: &str = "01a1ffec-7367-70f3-8a36-b01004bf352f";

    #[test]
    fn names_tell_the_conversation_and_the_file() {
        let of = |name: String| rollout(Path::new(&name)).map(|r| (r.thread.len(), r.file == B));
        assert_eq!(of(format!("/x/rollout-2026-11-21T21-04-07-{A}.jsonl")), Some((36, false)));
        assert_eq!(of(format!("rollout-2026-11-21T21-04-07-{A}_{B}.jsonl")), Some((36, true)));
        assert_eq!(of(format!("rollout-2026-11-21T21-04-07-{B}.jsonl.zst")), Some((36, true)));
        for other in
            ["rollout-2026-11-21T21-04-07-x.jsonl", "rollout-.jsonl", "a.jsonl", "rollout-é"]
        {
            assert_eq!(of(other.into()), None, "{other}");
        }
    }

    #[test]
    fn the_list_of_names_is_next_to_the_folders_of_sessions() {
        let at = |path: &'static str| home(Path::new(path)).and_then(Path::to_str);
        assert_eq!(at("/h/.codex/sessions/2026/11/21/r.jsonl"), Some("/h/.codex"));
        assert_eq!(at("/h/.codex/archived_sessions/r.jsonl"), Some("/h/.codex"));
        assert_eq!(at("/h/r.jsonl"), None);
        let name = |line| given(line).map(|(_, name)| name);
        assert_eq!(
            name(r#"{"id":"a","thread_name":" plan ","updated_at":"x"}"#),
            Some("plan".into())
        );
        assert_eq!(name(r#"{"id":"a"}"#), None);
        assert_eq!(name("no JSON"), None);
    }
}
