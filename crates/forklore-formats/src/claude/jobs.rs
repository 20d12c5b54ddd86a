//! Claude Code's documents about its background sessions: `jobs/<job>/state.json`, next to
//! `projects/`. A job is named after the first eight digits of its session's id.

use std::path::{Path, PathBuf};

use forklore_core::agent_format::FileFacts;
use serde::Deserialize;

use super::paths;
use crate::lenient::Text;

/// Length of a job's name in bytes. The name is the beginning of the id of the job's session.
const NAME: usize = 8;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct State<'a> {
    #[serde(borrow)]
    session_id: Text<'a>,
    #[serde(borrow)]
    fork_session_id: Text<'a>,
    #[serde(borrow)]
    fork_parent_session_id: Text<'a>,
}

/// Returns the path of the document about the job whose session is in the file at `path`. Returns
/// `None` if the file is not in Claude Code's `projects/`.
pub(super) fn state_file(path: &Path) -> Option<PathBuf> {
    let job = paths::session_id(path)?.get(..NAME)?;
    let projects = path.parent()?.parent()?;
    let is_claudes = projects.file_name().is_some_and(|name| name == "projects");
    is_claudes.then(|| projects.with_file_name("jobs").join(job).join("state.json"))
}

/// Returns the session from which the session in the file at `path` was forked, according to the
/// document about its job. Ignores a document about another session whose id begins with the same
/// digits.
pub(super) fn facts(path: &Path, document: &str) -> FileFacts {
    let state: State<'_> = serde_json::from_str(document).unwrap_or_default();
    let own = paths::session_id(path);
    let of_it = own.is_some()
        && [&state.session_id, &state.fork_session_id].iter().any(|id| id.get() == own);
    let parent = state.fork_parent_session_id.to_owned();
    let copied_from = parent.filter(|parent| of_it && Some(parent.as_str()) != own);
    FileFacts { copied_from, ..FileFacts::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "/home/me/.claude/projects/-w/3f219846-1111-4111-8111-111111111111.jsonl";

    #[test]
    fn the_document_of_a_job_is_found_and_names_the_parent() {
        let path = Path::new(PATH);
        let file = Some(PathBuf::from("/home/me/.claude/jobs/3f219846/state.json"));
        assert_eq!(state_file(path), file);
        for other in ["/w/3f219846-1111-4111-8111-111111111111.jsonl", "/projects/-w/3f2.jsonl"] {
            assert_eq!(state_file(Path::new(other)), None, "{other}");
        }
        let own = path.file_stem().unwrap().to_str().unwrap();
        let state = |id: &str, fork: &str, parent: &str| {
            let document = format!(
                r#"{{"sessionId":"{id}","forkSessionId":"{fork}","forkParentSessionId":"{parent}"}}"#
            );
            facts(path, &document).copied_from
        };
        assert_eq!(state(own, "", "p"), Some("p".to_owned()));
        assert_eq!(state("s", own, "p"), Some("p".to_owned()));
        assert_eq!(state("s", "t", "p"), None);
        assert_eq!(state(own, own, own), None);
        assert_eq!(facts(path, "{torn"), FileFacts::default());
    }
}
