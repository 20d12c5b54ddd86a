//! Finds the files to import, and orders them.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use forklore_core::agent_format::{AgentFormat, FileFacts};
use forklore_core::session_container::SessionContainer;
use forklore_engine::sources::path_text;
use forklore_engine::{Error, Result};
use forklore_store::sources::{Source, Sources};
use jiff::Timestamp;

use crate::base_files::BaseFiles;
use crate::contained::{self, ContainedSession};
use crate::importer::{ImportOptions, Importer};
use crate::opened::Opened;
use crate::report::{ImportReport, OfFile as _, Problem, ProblemKind};
use crate::session_names::{self, SessionNames};
use crate::sidecar::{Sidecar, Sidecars};
use crate::walk::{self, Wanted};
use crate::{source_state, unchanged};

const NO_RECORDS: &str = "no records of a known agent are in the file";

/// A file to import, with its dialect.
pub(crate) struct Candidate {
    pub(crate) path: PathBuf,
    pub(crate) dialect: &'static dyn AgentFormat,
    /// Its size in bytes.
    pub(crate) size: u64,
    begun: Timestamp,
    /// The native id of its session: from the file, or else the file name without the extension.
    native_id: Option<String>,
    /// The native id or the path of the session that this one continues, that called it, or from
    /// which it was copied.
    base: Option<String>,
    /// Whether its session continues that one, and cannot be read without it.
    continues: bool,
    /// Whether it is imported only because another file continues it.
    pub(crate) brought: bool,
    /// The agent's name for its session, if the agent stores one next to the file.
    pub(crate) title: Option<String>,
    /// The facts about its session in the agent's document next to the file.
    pub(crate) document_facts: FileFacts,
    /// The source of its lines, if it is one of several sessions in a container file.
    pub(crate) expanded: Option<ContainedSession>,
}

impl Candidate {
    /// Creates a candidate from the facts in the file's first records and in the agent's document.
    fn opened(
        path: PathBuf,
        dialect: &'static dyn AgentFormat,
        file: &Opened,
        title: Option<String>,
    ) -> Self {
        let document_facts = session_names::document_facts(dialect, &path);
        let mut facts = document_facts.clone();
        let (begun, told) = file.begun(dialect);
        facts.learn(told);
        let base = facts.base.map(|base| base.native_id);
        let continues = base.is_some();
        let base = base.or(facts.caller).or(facts.copied_from);
        let stem = || path.file_stem().map(|it| it.to_string_lossy().into_owned());
        let native_id = facts.native_id.or_else(stem);
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
            document_facts,
            expanded: None,
        }
    }
}

impl Importer<'_> {
    /// Returns the files to read that a dialect recognizes, and their sidecar files. The files are
    /// ordered oldest first, but each after the file in which it begins. Unchanged session files
    /// are added to the report at once; that takes one look at the file's metadata and one at the
    /// stored source.
    pub(crate) fn candidates(
        &self,
        sources: &dyn Sources,
        paths: &[PathBuf],
        options: &ImportOptions,
        report: &mut ImportReport,
    ) -> Result<(Vec<Candidate>, Vec<Sidecar>)> {
        let only = options.from.as_deref().map(|name| self.format_named(name)).transpose()?;
        let (mut found, mut names) = (Vec::new(), SessionNames::default());
        let mut sidecars = Sidecars::new(self.engine, sources, only);
        let expanders = self
            .engine
            .containers()
            .iter()
            .filter(|expander| only.is_none_or(|dialect| dialect.name() == expander.dialect()));
        let expanders: Vec<_> = expanders.collect();
        let may_own = |path: &Path| {
            let of_many = expanders.iter().any(|expander| expander.may_own(path));
            of_many
                || match only {
                    Some(dialect) => dialect.may_own(path),
                    None => {
                        self.engine.agent_formats().0.iter().any(|dialect| dialect.may_own(path))
                    }
                }
        };
        let wanted = Wanted { may_own: &may_own, belongs: &|path| sidecars.may_be(path) };
        let files = walk::files(paths, wanted, &mut report.problems);
        let all_named = named(paths, options);
        for path in files {
            if options.is_stopped() {
                break;
            }
            let named = all_named.contains(&path);
            if sidecars.add_if_sidecar(&path, named)? {
                continue;
            }
            if !options.again
                && let Some(source) = self.unchanged(sources, &path, &mut names)?
            {
                unchanged::report(self.engine, &path, &source, report)?;
                continue;
            }
            let opened = Opened::open(&path);
            if let Ok(file) = &opened
                && let Some(expander) = expanders.iter().find(|e| e.detect(&path, &file.head))
            {
                self.expand(**expander, &path, &mut found, report);
                continue;
            }
            let problem = match opened {
                Ok(file) => match self.whose(sources, only, &path, &file)? {
                    Some(dialect) => {
                        let title = names.of(dialect, &path);
                        found.push(Candidate::opened(path, dialect, &file, title));
                        continue;
                    }
                    None => (ProblemKind::UnknownFormat, self.unknown(&path, &file)),
                },
                Err(error) => (ProblemKind::Unreadable, error.to_string()),
            };
            // A folder may contain many files in other forms than lines that are not sessions.
            report.skipped += u64::from(named || walk::is_lines(&path));
            if named || problem.0 == ProblemKind::Unreadable {
                report.problems.push(Problem::of_file(&path, problem.0, problem.1));
            }
        }
        self.bring_bases(sources, options, &mut found, &mut names)?;
        found.sort_by(|a, b| (a.begun, &a.path).cmp(&(b.begun, &b.path)));
        Ok((parents_first(found), sidecars.found))
    }
}

impl Importer<'_> {
    /// Returns the source of a file if nothing of the file needs to be read.
    fn unchanged(
        &self,
        sources: &dyn Sources,
        path: &Path,
        names: &mut SessionNames,
    ) -> Result<Option<Source>> {
        let Some(source) = source_state::unchanged(sources, path)? else { return Ok(None) };
        let Some(dialect) = self.engine.agent_formats().named(&source.dialect) else {
            return Ok(None);
        };
        let same = source_state::is_called(&source, names.of(dialect, path).as_deref())
            && !source_state::lacks_base(self.engine, &source)?;
        Ok(same.then_some(source))
    }

    /// Adds the files that the found ones continue and that were not found themselves.
    fn bring_bases(
        &self,
        sources: &dyn Sources,
        options: &ImportOptions,
        found: &mut Vec<Candidate>,
        names: &mut SessionNames,
    ) -> Result<()> {
        let of = |file: &Candidate| Some((file.dialect.name(), file.native_id.clone()?));
        let mut there: HashSet<_> = found.iter().filter_map(of).collect();
        let mut files = BaseFiles::default();
        let mut at = 0;
        while let Some(file) = found.get(at) {
            at += 1;
            let Some(base) = file.base.clone().filter(|_| file.continues) else { continue };
            if !there.insert((file.dialect.name(), base.clone())) {
                continue;
            }
            let dialect = file.dialect;
            let Some(path) = files.find(dialect, &file.path, &base) else { continue };
            if !options.again && self.unchanged(sources, &path, names)?.is_some() {
                continue;
            }
            let Ok(opened) = Opened::open(&path) else { continue };
            if dialect.detect(&path, &opened.head) {
                let title = names.of(dialect, &path);
                let file = Candidate::opened(path, dialect, &opened, title);
                found.push(Candidate { brought: true, ..file });
            }
        }
        Ok(())
    }

    /// Returns the requested dialect.
    fn format_named(&self, name: &str) -> Result<&'static dyn AgentFormat> {
        self.engine.agent_formats().named(name).ok_or_else(|| {
            let state: Vec<_> =
                self.engine.agent_formats().0.iter().map(|dialect| dialect.name()).collect();
            Error::invalid("dialect", format!("a dialect is one of {}", state.join(", ")))
        })
    }

    /// Returns the dialect of the file. If a known file of an agent was rewritten, it still belongs
    /// to that agent, even if its content no longer shows this.
    fn whose(
        &self,
        sources: &dyn Sources,
        only: Option<&'static dyn AgentFormat>,
        path: &Path,
        file: &Opened,
    ) -> Result<Option<&'static dyn AgentFormat>> {
        if let Some(dialect) = only.or_else(|| self.engine.agent_formats().detect(path, &file.head))
        {
            return Ok(Some(dialect));
        }
        let state = source_state::latest(sources, &file.seen)?;
        Ok(state.and_then(|source| self.engine.agent_formats().named(&source.dialect)))
    }

    /// Returns why no dialect recognizes a file.
    fn unknown(&self, path: &Path, file: &Opened) -> String {
        match self.engine.agent_formats().unsupported(path, &file.head) {
            Some(agent) => format!("{agent} wrote the file, whose sessions are not supported"),
            None => NO_RECORDS.to_owned(),
        }
    }

    /// Adds the sessions of a container file.
    fn expand(
        &self,
        expander: &dyn SessionContainer,
        path: &Path,
        found: &mut Vec<Candidate>,
        report: &mut ImportReport,
    ) {
        let Some(dialect) = self.engine.agent_formats().named(expander.dialect()) else { return };
        match ContainedSession::of(expander, path) {
            Ok(sessions) => found.extend(sessions.into_iter().map(|(path, expanded)| Candidate {
                path,
                dialect,
                size: 0,
                begun: expanded.found().created.unwrap_or(Timestamp::UNIX_EPOCH),
                native_id: Some(expanded.found().id.clone()),
                base: expanded.found().caller.clone(),
                continues: false,
                brought: false,
                title: None,
                document_facts: FileFacts::default(),
                expanded: Some(expanded),
            })),
            Err(error) => {
                report.skipped += 1;
                report.problems.push(contained::refused(path, &error));
            }
        }
    }
}

/// Returns the files that a person named, with symbolic links resolved.
fn named(paths: &[PathBuf], options: &ImportOptions) -> HashSet<PathBuf> {
    let paths = if options.found { &[] } else { paths };
    paths.iter().filter_map(|path| path.canonicalize().ok()).collect()
}

/// Orders files so that each comes after the one in which its session begins. Of files that begin
/// in each other, the oldest comes last.
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
