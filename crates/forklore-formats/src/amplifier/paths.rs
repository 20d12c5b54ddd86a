//! Reads facts from the name of a session's directory and from the `metadata.json` in it.

use std::path::{Path, PathBuf};

use forklore_core::agent_format::FileFacts;
use serde::Deserialize;

use crate::lenient::{Text, Whole, fields};
use crate::time;

/// Number of hexadecimal digits of a span id. Amplifier writes such an id into the name of a
/// sub-agent's directory.
const SPAN: usize = 16;

pub(super) fn is_transcript(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "transcript.jsonl")
}

/// Checks whether the file is directly in a session's directory, whose parent directory is
/// `sessions`.
pub(super) fn is_in_sessions(path: &Path) -> bool {
    path.parent().and_then(Path::parent).is_some_and(|folder| folder.ends_with("sessions"))
}

/// Returns the transcript to which the file at `path` belongs, in the same directory. In a
/// directory that is not in `sessions`, only `metadata.json` and `events.jsonl` belong to the
/// transcript. Amplifier always writes these two files. Returns `None` for a transcript, and for a
/// file that belongs to none.
pub(super) fn belongs_to(path: &Path) -> Option<PathBuf> {
    let is_amplifier =
        path.file_name().is_some_and(|it| it == "metadata.json" || it == "events.jsonl");
    let one_of_its = !is_transcript(path) && (is_amplifier || is_in_sessions(path));
    one_of_its.then(|| path.with_file_name("transcript.jsonl"))
}

/// Reads facts from the name of a transcript's directory. The name is Amplifier's id of the
/// session, and may contain the id of the calling session.
pub(super) fn facts(path: &Path) -> FileFacts {
    let folder = path.parent().filter(|_| is_transcript(path)).and_then(Path::file_name);
    let Some(name) = folder.and_then(std::ffi::OsStr::to_str) else { return FileFacts::default() };
    FileFacts {
        native_id: Some(name.to_owned()),
        caller: caller(name).map(str::to_owned),
        ..FileFacts::default()
    }
}

/// Returns the id of the calling session from a sub-agent's directory name,
/// `<caller>-<span>_<agent>`. Returns `None` for `<span>-<span>_<agent>`, because a span id does
/// not identify a session.
fn caller(name: &str) -> Option<&str> {
    let is_span = |text: &str| text.len() == SPAN && text.bytes().all(|b| b.is_ascii_hexdigit());
    let (at, _) = name.rmatch_indices('_').find(|(at, _)| {
        let span = name.get(..*at).and_then(|before| before.rsplit_once('-'));
        span.is_some_and(|(_, span)| is_span(span))
    })?;
    let (caller, _) = name.get(..at)?.rsplit_once('-')?;
    (!caller.is_empty() && !is_span(caller)).then_some(caller)
}

/// Reads facts about a session from its `metadata.json`. If the document has the turn or the time
/// of a fork, its `parent_id` is the session from which the messages were copied. Otherwise its
/// `parent_id` is the session that called this one as a sub-agent.
pub(super) fn metadata_facts(document: &str) -> FileFacts {
    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Metadata<'a> {
        #[serde(borrow)]
        session_id: Text<'a>,
        #[serde(borrow)]
        parent_id: Text<'a>,
        forked_from_turn: Whole,
        #[serde(borrow)]
        forked_at: Text<'a>,
        #[serde(borrow)]
        created: Text<'a>,
        #[serde(borrow)]
        working_dir: Text<'a>,
        #[serde(borrow)]
        name: Text<'a>,
    }
    let mut plainer = String::new();
    let Ok(metadata) = fields::<Metadata<'_>>(document, &mut plainer) else {
        return FileFacts::default();
    };
    let forked = metadata.forked_from_turn.0.is_some() || metadata.forked_at.get().is_some();
    let parent = metadata.parent_id.to_owned().filter(|parent| !parent.is_empty());
    let (copied_from, caller) = if forked { (parent, None) } else { (None, parent) };
    FileFacts {
        native_id: metadata.session_id.to_owned().filter(|id| !id.is_empty()),
        cwd: metadata.working_dir.to_owned(),
        title: metadata.name.to_owned(),
        created: time::from_text(&metadata.created),
        copied_from,
        caller,
        ..FileFacts::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_sub_agents_tell_who_called_them() {
        let of = |name: &str| caller(name).map(str::to_owned);
        let root = "1cb9e5f5-48b2-4dd6-9728-bcc3b0303f2b";
        assert_eq!(of(&format!("{root}-3c3c7d7ed17b4281_zen-architect")), Some(root.into()));
        assert_eq!(of(&format!("{root}-3c3c7d7ed17b4281_code_review")), Some(root.into()));
        let nested = format!("{root}-3c3c7d7ed17b4281_a");
        assert_eq!(of(&format!("{nested}-0123456789abcdef_b")), Some(nested));
        for silent in [root, "0000000000000000-3c3c7d7ed17b4281_a", "a_b", "-3c3c7d7ed17b4281_a"] {
            assert_eq!(of(silent), None, "{silent}");
        }
    }

    #[test]
    fn files_in_the_folder_of_a_session_are_its() {
        let of = |path: &str| belongs_to(Path::new(path));
        let transcript = Some(PathBuf::from("/p/sessions/s/transcript.jsonl"));
        for name in ["metadata.json", "events.jsonl", "transcript.jsonl.backup", "config.md"] {
            assert_eq!(of(&format!("/p/sessions/s/{name}")), transcript, "{name}");
        }
        assert_eq!(of("/p/sessions/s/transcript.jsonl"), None);
        assert_eq!(of("/lone/s/metadata.json"), Some("/lone/s/transcript.jsonl".into()));
        for nobodys in ["/lone/s/config.md", "/p/sessions/notes.md", "x.md", ""] {
            assert_eq!(of(nobodys), None, "{nobodys}");
        }
    }

    #[test]
    fn documents_that_are_damaged_tell_nothing() {
        for text in ["", "{", "[]", "null", "{\"session_id\":7,\"parent_id\":[]}"] {
            assert_eq!(metadata_facts(text), FileFacts::default(), "{text}");
        }
    }
}
