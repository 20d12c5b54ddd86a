//! The keys by which the SDK names a transcript, as paths like those of Claude Code's files.

use std::fmt::Write as _;

use crate::failure::{Failure, Result};

/// The folder that stands for Claude Code's `projects` folder. No file of a disk is in it.
const ROOT: &str = "claude-session-store:";
const EXTENSION: &str = ".jsonl";

/// Names one transcript: that of a session, or of a sub-agent that the session called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaudeKey<'k> {
    /// The key of the project's folder.
    pub project: &'k str,
    /// The id of the session.
    pub session: &'k str,
    /// The path of a sub-agent's transcript below the session's folder; `None` for the session's
    /// own transcript.
    pub subpath: Option<&'k str>,
}

impl<'k> ClaudeKey<'k> {
    /// Returns the key of a transcript. An empty `subpath` is the same as none.
    ///
    /// # Errors
    /// `invalid_args` if the project or the session has no name.
    pub fn new(project: &'k str, session: &'k str, subpath: Option<&'k str>) -> Result<Self> {
        if project.is_empty() || session.is_empty() {
            let message = "a key has a project_key and a session_id that are not empty";
            return Err(Failure::invalid(message));
        }
        Ok(Self { project, session, subpath: subpath.filter(|path| !path.is_empty()) })
    }

    /// Returns the path of the transcript.
    pub(super) fn path(&self) -> String {
        match self.subpath {
            None => self.main_path(),
            Some(subpath) => {
                format!("{}/{}{EXTENSION}", self.session_folder(), escaped(subpath, true))
            }
        }
    }

    /// Returns the folder under whose name the transcript is listed.
    pub(super) fn folder(&self) -> String {
        match self.subpath {
            None => project_folder(self.project),
            Some(_) => self.session_folder(),
        }
    }

    /// Returns the path of the transcript of the session, if the key is that of a sub-agent.
    pub(super) fn caller(&self) -> Option<String> {
        self.subpath.map(|_| self.main_path())
    }

    fn main_path(&self) -> String {
        format!("{}{EXTENSION}", self.session_folder())
    }

    /// Returns the folder with the transcripts of the session's sub-agents.
    pub(super) fn session_folder(&self) -> String {
        format!("{}/{}", project_folder(self.project), escaped(self.session, false))
    }
}

/// Returns the folder with the transcripts of a project's sessions.
pub(super) fn project_folder(project: &str) -> String {
    format!("{ROOT}/{}", escaped(project, false))
}

/// Returns the name of the transcript at `path` in its folder: the id of its session, or the
/// subpath. Returns `None` if the path is not in the folder.
pub(super) fn name_in(folder: &str, path: &str) -> Option<String> {
    let name = path.strip_prefix(folder)?.strip_prefix('/')?.strip_suffix(EXTENSION)?;
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// Escapes the characters that a name in a path cannot have. A slash is one of them, unless the text
/// is a path itself.
fn escaped(text: &str, is_path: bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_control() || matches!(char, '%' | '\\') || (char == '/' && !is_path) {
            for byte in char.encode_utf8(&mut [0; 4]).bytes() {
                let _ = write!(escaped, "%{byte:02x}");
            }
        } else {
            escaped.push(char);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_the_form_of_the_paths_of_claude_code() {
        let main = ClaudeKey::new("-work-demo", "5a1d", None).unwrap();
        assert_eq!(main.path(), "claude-session-store:/-work-demo/5a1d.jsonl");
        assert_eq!(main.folder(), "claude-session-store:/-work-demo");
        assert_eq!(ClaudeKey::new("-work-demo", "5a1d", Some("")).unwrap(), main);
        let agent = ClaudeKey::new("-work-demo", "5a1d", Some("subagents/agent-1")).unwrap();
        assert_eq!(agent.path(), "claude-session-store:/-work-demo/5a1d/subagents/agent-1.jsonl");
        assert_eq!(agent.caller(), Some(main.path()));
        assert!(ClaudeKey::new("", "5a1d", None).is_err());
        assert!(ClaudeKey::new("p", "", None).is_err());
    }

    #[test]
    fn names_come_back_and_never_leave_their_folder() {
        for name in ["a", "a/b", "../x", "%2f", "a\0b", "ü\\", "a.jsonl", " "] {
            let key = ClaudeKey::new(name, name, None).unwrap();
            assert_eq!(name_in(&key.folder(), &key.path()).as_deref(), Some(name));
            assert_eq!(key.path().matches('/').count(), 2, "{name}");
            let sub = ClaudeKey::new("p", "s", Some(name)).unwrap();
            assert_eq!(name_in(&sub.folder(), &sub.path()).as_deref(), Some(name));
        }
        assert_eq!(name_in("claude-session-store:/p", "claude-session-store:/q/s.jsonl"), None);
    }
}
