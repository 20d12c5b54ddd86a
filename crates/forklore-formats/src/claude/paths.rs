//! Paths of the files that belong to a session. They are below the directory that has the session
//! file's name without its extension: in `tool-results/` and, for sub-agents, in `subagents/`.

use std::path::{Path, PathBuf};

use crate::paths;

/// Maximum number of directory levels that are searched above a file for `tool-results/` or
/// `subagents/`.
const DEPTH: usize = 6;

/// Returns the session file to which the file at `path` belongs, or `None` if it belongs to none.
/// The `.meta.json` file of a sub-agent belongs to the sub-agent's session file. A JSONL file in
/// `subagents/` belongs to no session file, because it may be one itself.
pub(super) fn belongs_to(path: &Path) -> Option<PathBuf> {
    if let Some(results) = paths::above(path, "tool-results", DEPTH) {
        return paths::with_ending(results.parent()?, "jsonl");
    }
    let agents = paths::above(path, "subagents", DEPTH)?;
    if let Some(agent) = path.file_name()?.to_str()?.strip_suffix(".meta.json") {
        return Some(path.with_file_name(format!("{agent}.jsonl")));
    }
    let lines = paths::without_ending(path, "jsonl").is_some();
    if lines { None } else { paths::with_ending(agents.parent()?, "jsonl") }
}

pub(super) fn without_ending(path: &Path) -> Option<PathBuf> {
    paths::without_ending(path, "jsonl")
}

/// Returns the directory with the session files of the project to which the sub-agent's file at
/// `path` belongs. Returns `None` for other files: the sessions of their project are next to them.
pub(super) fn project(path: &Path) -> Option<PathBuf> {
    let agents = paths::above(path, "subagents", DEPTH)?;
    agents.parent()?.parent().map(Path::to_owned)
}

/// Returns the id of the session in the file at `path`: the file's name without its extension.
/// Returns `None` for a sub-agent's file, which contains another id.
pub(super) fn session_id(path: &Path) -> Option<&str> {
    let name = path.file_stem()?.to_str()?;
    (!name.starts_with("agent-")).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_and_notes_belong_to_the_session_next_to_their_folder() {
        let of = |path: &str| belongs_to(Path::new(path));
        let session = Some(PathBuf::from("/p/-w/5a1d.jsonl"));
        for path in ["tool-results/toolu_1.txt", "tool-results/a/b.jsonl", "subagents/w/plan.md"] {
            assert_eq!(of(&format!("/p/-w/5a1d/{path}")), session, "{path}");
        }
        let agent = Some(PathBuf::from("/p/-w/5a1d/subagents/agent-1.jsonl"));
        assert_eq!(of("/p/-w/5a1d/subagents/agent-1.meta.json"), agent);
        for other in ["/p/-w/5a1d/subagents/agent-1.jsonl", "/p/-w/5a1d.jsonl", "tool-results", ""]
        {
            assert_eq!(of(other), None, "{other}");
        }
        let project_of = |path: &str| project(Path::new(path));
        assert_eq!(project_of("/p/-w/5a1d/subagents/agent-1.jsonl"), Some("/p/-w".into()));
        assert_eq!(project_of("/p/-w/5a1d.jsonl"), None);
        assert_eq!(session_id(Path::new("/p/-w/5a1d.jsonl")), Some("5a1d"));
        assert_eq!(session_id(Path::new("/p/-w/5a1d/subagents/agent-1.jsonl")), None);
        assert_eq!(without_ending(Path::new("/p/-w/5a1d.jsonl")), Some("/p/-w/5a1d".into()));
    }
}
