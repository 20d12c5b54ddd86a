//! Paths of the files of sub-agents: `projects/<folder>/subagents/<session>/agent-<id>.jsonl`, next
//! to `chats/`.

use std::path::{Path, PathBuf};

/// Returns the id of the session that called the sub-agent whose file is at `path`, from the name
/// of the file's directory. Returns `None` if the file is not that of a sub-agent.
pub(super) fn caller(path: &Path) -> Option<String> {
    let folder = path.parent()?;
    let of_agents = folder.parent()?.file_name().is_some_and(|name| name == "subagents");
    of_agents.then(|| folder.file_name().map(|name| name.to_string_lossy().into_owned())).flatten()
}

/// Returns the session file to which the file at `path` belongs: the `.meta.json` file of a
/// sub-agent belongs to the sub-agent's session file. Returns `None` for any other file.
pub(super) fn belongs_to(path: &Path) -> Option<PathBuf> {
    caller(path)?;
    let agent = path.file_name()?.to_str()?.strip_suffix(".meta.json")?;
    Some(path.with_file_name(format!("{agent}.jsonl")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_sub_agent_names_its_caller() {
        let agent = Path::new("/q/projects/-w/subagents/s1/agent-a.jsonl");
        assert_eq!(caller(agent).as_deref(), Some("s1"));
        assert_eq!(belongs_to(agent), None);
        assert_eq!(belongs_to(&agent.with_file_name("agent-a.meta.json")), Some(agent.to_owned()));
        for other in ["/q/projects/-w/chats/s1.jsonl", "/q/projects/-w/chats/s1.meta.json", "a"] {
            assert_eq!((caller(Path::new(other)), belongs_to(Path::new(other))), (None, None));
        }
    }
}
