//! The session files that an import will read, and their order.

use std::collections::HashMap;
use std::path::PathBuf;

use forklore_core::agent_format::{AgentFormat, FileFacts};
use forklore_engine::sources::path_text;
use jiff::Timestamp;

use crate::contained::ContainedSession;
use crate::opened::Opened;
use crate::session_names;

/// A session file that an import will read, with its dialect (the agent's record format). It may
/// also be one session in a container file (a file with several sessions).
pub(crate) struct Candidate {
    pub(crate) path: PathBuf,
    pub(crate) dialect: &'static dyn AgentFormat,
    /// The file's size in bytes; 0 for one session in a container file.
    pub(crate) size: u64,
    pub(crate) begun: Timestamp,
    /// The agent's own id of the file's session: from the records, or else the file name without
    /// the extension. `None` if there is neither.
    pub(crate) native_id: Option<String>,
    /// The session that this file's session continues, the session that called it as a sub-agent,
    /// or the session from which it was copied. The value is the agent's own id of that session, or
    /// the path of its file. `None` if there is no such session.
    pub(crate) base: Option<String>,
    /// Whether this file continues the session `base` and contains only the records added to it.
    /// Without `base`, such a file cannot be imported.
    pub(crate) continues: bool,
    /// Whether the import reads this file only because another file continues it. It is `false` if
    /// a person named the file or a search found it.
    pub(crate) brought: bool,
    /// The title of the file's session from a list or document that the agent stores next to the
    /// file. `None` if there is no title there.
    pub(crate) title: Option<String>,
    /// The working directory in the file's first records; `None` if they name none.
    pub(crate) cwd: Option<String>,
    /// Facts about the file's session from a separate document that the agent stores next to the
    /// file.
    pub(crate) document_facts: FileFacts,
    /// The session in a container file from which the lines are read. `None` for a file of one
    /// session.
    pub(crate) expanded: Option<ContainedSession>,
}

impl Candidate {
    /// Creates a description of a session file to import. It uses the facts in the file's first
    /// records and in the document that the agent stores next to the file.
    pub(crate) fn opened(
        path: PathBuf,
        dialect: &'static dyn AgentFormat,
        file: &Opened,
        title: Option<String>,
    ) -> Self {
        let document_facts = session_names::document_facts(dialect, &path);
        let mut facts = document_facts.clone();
        let (begun, further) = file.begun(dialect);
        facts.learn(further);
        let base = facts.base.map(|base| base.native_id);
        let continues = base.is_some();
        let base = base.or(facts.caller).or(facts.copied_from);
        let stem = || path.file_stem().map(|it| it.to_string_lossy().into_owned());
        let native_id = facts.native_id.or_else(stem);
        let cwd = facts.cwd;
        let size = file.seen.size;
        Self {
            path,
            dialect,
            size,
            begun,
            native_id,
            base,
            continues,
            brought: false,
            title,
            cwd,
            document_facts,
            expanded: None,
        }
    }

    /// Describes one session in a container file.
    pub(crate) fn contained(
        path: PathBuf,
        dialect: &'static dyn AgentFormat,
        session: ContainedSession,
    ) -> Self {
        let found = session.found();
        Self {
            path,
            dialect,
            size: 0,
            begun: found.created.unwrap_or(Timestamp::UNIX_EPOCH),
            native_id: Some(found.id.clone()),
            base: found.caller.clone(),
            continues: false,
            brought: false,
            title: None,
            cwd: None,
            document_facts: FileFacts::default(),
            expanded: Some(session),
        }
    }

    /// Returns the agent's own id of the session that this file continues. The file cannot be
    /// imported without that session. Returns `None` if the file continues no session.
    pub(crate) fn continued(&self) -> Option<&str> {
        self.base.as_deref().filter(|_| self.continues)
    }
}

/// Sorts files by the time of their first record that has a time, but puts each file after its
/// base. The base of a file is the file that it continues or copies, or the file of the session
/// that called it as a sub-agent. If bases form a cycle, one file in the cycle comes before its
/// base.
pub(crate) fn ordered(mut files: Vec<Candidate>) -> Vec<Candidate> {
    files.sort_by(|a, b| (a.begun, &a.path).cmp(&(b.begun, &b.path)));
    parents_first(files)
}

/// Puts each file after its base, and otherwise preserves the order. The base of a file is the file
/// that it continues or copies, or the file of the session that called it as a sub-agent. If bases
/// form a cycle, one file in the cycle comes before its base.
fn parents_first(files: Vec<Candidate>) -> Vec<Candidate> {
    let mut by_id = HashMap::new();
    for (at, file) in files.iter().enumerate() {
        let path = path_text(&file.path);
        for name in file.native_id.clone().into_iter().chain([path]) {
            by_id.entry((file.dialect.name(), name)).or_insert(at);
        }
    }
    let parent = |file: &Candidate| {
        let base = file.base.clone()?;
        by_id.get(&(file.dialect.name(), base)).copied()
    };
    let parents: Vec<_> = files.iter().map(parent).collect();
    let mut waiting: Vec<_> = files.into_iter().map(Some).collect();
    let mut ordered = Vec::with_capacity(waiting.len());
    for at in 0..waiting.len() {
        let mut chain = Vec::new();
        let mut next = Some(at);
        while let Some(at) = next
            && let Some(file) = waiting.get_mut(at).and_then(Option::take)
        {
            chain.push(file);
            next = parents.get(at).copied().flatten();
        }
        ordered.extend(chain.into_iter().rev());
    }
    ordered
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    struct Nobody;

    impl AgentFormat for Nobody {
        fn name(&self) -> &'static str {
            "nobody"
        }
        fn detect(&self, _: &Path, _: &[u8]) -> bool {
            false
        }
        fn reader(
            &self,
            _: &Path,
            _: Option<&str>,
        ) -> Box<dyn forklore_core::agent_format::LineReader> {
            unreachable!("nothing is read")
        }
        fn view(
            &self,
            _: &forklore_core::EventType,
            _: &forklore_core::Data,
        ) -> Option<forklore_core::Message> {
            None
        }
    }

    fn ordered(files: &[(&str, &str)]) -> String {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let files = files.iter().map(|(id, base)| Candidate {
            path: PathBuf::from(id),
            dialect: &Nobody,
            size: 0,
            begun: Timestamp::UNIX_EPOCH,
            native_id: some(id),
            base: some(base),
            continues: false,
            brought: false,
            title: None,
            cwd: None,
            document_facts: FileFacts::default(),
            expanded: None,
        });
        let ids = parents_first(files.collect()).into_iter().map(|file| file.path);
        ids.map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn children_wait_for_their_parents() {
        assert_eq!(ordered(&[("a", ""), ("b", "a"), ("c", "a")]), "abc");
        assert_eq!(ordered(&[("c", "b"), ("x", ""), ("b", "a"), ("a", "")]), "abcx");
        assert_eq!(ordered(&[("a", "gone"), ("b", "a")]), "ab");
        assert_eq!(ordered(&[("a", "c"), ("b", "a"), ("c", "b")]), "bca");
        assert_eq!(ordered(&[("a", "a"), ("a", "a")]), "aa");
        let deep: Vec<_> = (0..20_000).map(|n: u32| (n.to_string(), (n + 1).to_string())).collect();
        let deep: Vec<_> = deep.iter().map(|(id, base)| (id.as_str(), base.as_str())).collect();
        assert!(ordered(&deep).starts_with("1999919998"));
    }
}
