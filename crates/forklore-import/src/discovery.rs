//! Finds the files to import, and detects which agent wrote each file.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use forklore_core::agent_format::AgentFormat;
use forklore_core::session_container::SessionContainer;
use forklore_engine::{Engine, Error, Result};
use forklore_store::Store;
use forklore_store::sources::Source;

use crate::base_files::BaseFiles;
use crate::candidate::{Candidate, ordered};
use crate::contained::{self, ContainedSession};
use crate::named_paths::NamedPaths;
use crate::opened::Opened;
use crate::options::ImportOptions;
use crate::report::{ImportReport, OfFile as _, Problem, ProblemKind};
use crate::session_names::SessionNames;
use crate::sidecar::{Sidecar, Sidecars};
use crate::walk::{self, Wanted};
use crate::{keyed_folders, report_unchanged, source_state};

const NO_RECORDS: &str = "no records of a known agent are in the file";

/// The files of one import.
pub(crate) struct Discovered {
    /// The session files to read.
    pub(crate) candidates: Vec<Candidate>,
    /// The sidecar files (files without a session that belong to session files).
    pub(crate) sidecars: Vec<Sidecar>,
    /// The files of JSON lines in searched folders that no known agent wrote, with the reason.
    pub(crate) unknown: Vec<Problem>,
}

/// Searches for the files of one import: session files and sidecar files.
pub(crate) struct Discovery<'a> {
    engine: &'a Engine,
    sources: &'a dyn Store,
    options: &'a ImportOptions,
    /// The agent format whose files are imported; `None` imports the files of every format.
    only: Option<&'static dyn AgentFormat>,
    /// The readers of container files (files with several sessions) of the imported agents.
    containers: Vec<&'a dyn SessionContainer>,
    names: SessionNames,
    found: Vec<Candidate>,
    unknown: Vec<Problem>,
}

impl<'a> Discovery<'a> {
    /// Creates a search for the files of the agent format that the options name, or of every
    /// format.
    ///
    /// # Errors
    /// `invalid_args` if the options name an unknown format.
    pub(crate) fn new(
        engine: &'a Engine,
        sources: &'a dyn Store,
        options: &'a ImportOptions,
    ) -> Result<Self> {
        let only = options.from.as_deref().map(|name| format_named(engine, name)).transpose()?;
        let containers = engine.containers().iter().copied();
        let containers = containers
            .filter(|container| only.is_none_or(|dialect| dialect.name() == container.dialect()))
            .collect();
        let (names, found, unknown) = (SessionNames::default(), Vec::new(), Vec::new());
        Ok(Self { engine, sources, options, only, containers, names, found, unknown })
    }

    /// Returns the session files to read, and the sidecar files. Session files are sorted oldest
    /// first, but each comes after its base: the file that it continues or copies, or the file of
    /// the session that called it as a sub-agent. An unchanged session file is not returned but
    /// added to the report; for this, only its metadata and its entry in the store are read.
    pub(crate) fn find(
        mut self,
        paths: &[PathBuf],
        all_named: &NamedPaths<'_>,
        report: &mut ImportReport,
    ) -> Result<Discovered> {
        let mut sidecars = Sidecars::new(self.engine, self.sources, self.only);
        let may_own = |path: &Path| self.may_own(path);
        let wanted = Wanted { may_own: &may_own, belongs: &|path| sidecars.may_be(path) };
        let files = walk::files(paths, wanted, &mut report.problems);
        for path in files {
            if self.options.is_stopped() {
                break;
            }
            let named = all_named.has(&path);
            if !sidecars.add_if_sidecar(&path, named)? {
                self.add(path, named, report)?;
            }
        }
        self.add_bases()?;
        keyed_folders::assign(self.engine, &self.options.workspace, &mut self.found)?;
        let (candidates, sidecars) = (ordered(self.found), sidecars.found);
        Ok(Discovered { candidates, sidecars, unknown: self.unknown })
    }

    /// Checks by the path whether a file may be a session file or a container of several sessions.
    fn may_own(&self, path: &Path) -> bool {
        self.containers.iter().any(|container| container.may_own(path))
            || match self.only {
                Some(dialect) => dialect.may_own(path),
                None => self.engine.agent_formats().0.iter().any(|dialect| dialect.may_own(path)),
            }
    }

    /// Adds a file to the files to import, or reports that it is unchanged or why it cannot be
    /// imported. If nobody named the file (`named`), JSON lines of an unknown format are only
    /// counted as skipped, and any other readable file without sessions is ignored.
    fn add(&mut self, path: PathBuf, named: bool, report: &mut ImportReport) -> Result<()> {
        if !self.options.again
            && let Some(source) = self.unchanged(&path)?
        {
            return report_unchanged::report(self.engine, &path, &source, report);
        }
        let opened = Opened::open(&path);
        if let Ok(file) = &opened {
            let mut containers = self.containers.iter().copied();
            if let Some(container) = containers.find(|it| it.detect(&path, &file.head)) {
                self.add_contained(container, &path, report);
                return Ok(());
            }
        }
        let problem = match opened {
            Ok(file) => match self.whose(&path, &file)? {
                Some(dialect) => {
                    let title = self.names.of(dialect, &path);
                    self.found.push(Candidate::opened(path, dialect, &file, title));
                    return Ok(());
                }
                None => (ProblemKind::UnknownFormat, self.unknown(&file)),
            },
            Err(error) => (ProblemKind::Unreadable, error.to_string()),
        };
        // A folder may contain many files that are neither JSON lines nor sessions. They do not
        // count as skipped unless a person named them.
        report.skipped += u64::from(named || walk::is_lines(&path));
        let (kind, message) = problem;
        let problem = Problem::of_file(&path, kind, message);
        if named || kind == ProblemKind::Unreadable {
            report.problems.push(problem);
        } else if walk::is_lines(&path) {
            self.unknown.push(problem);
        }
        Ok(())
    }

    /// Returns the store's entry of a file that need not be read again. Returns `None` if the file
    /// or its title has changed since the last import, or if that import did not find the file that
    /// this file continues.
    fn unchanged(&mut self, path: &Path) -> Result<Option<Source>> {
        let Some(source) = source_state::unchanged(self.sources, path)? else { return Ok(None) };
        let Some(dialect) = self.engine.agent_formats().named(&source.dialect) else {
            return Ok(None);
        };
        let same = source_state::is_called(&source, self.names.of(dialect, path).as_deref())
            && !source_state::lacks_base(self.engine, &source)?;
        Ok(same.then_some(source))
    }

    /// Adds base files to the files to import. A base file is a session file that a found file
    /// continues, but that the search itself did not find.
    fn add_bases(&mut self) -> Result<()> {
        let of = |file: &Candidate| Some((file.dialect.name(), file.native_id.clone()?));
        let mut there: HashSet<_> = self.found.iter().filter_map(of).collect();
        let mut files = BaseFiles::default();
        let mut at = 0;
        while let Some(file) = self.found.get(at) {
            at += 1;
            let Some(base) = file.continued() else { continue };
            let dialect = file.dialect;
            if !there.insert((dialect.name(), base.to_owned())) {
                continue;
            }
            let Some(path) = files.find(dialect, &file.path, base) else { continue };
            if !self.options.again && self.unchanged(&path)?.is_some() {
                continue;
            }
            let Ok(opened) = Opened::open(&path) else { continue };
            if dialect.detect(&path, &opened.head) {
                let title = self.names.of(dialect, &path);
                let file = Candidate::opened(path, dialect, &opened, title);
                self.found.push(Candidate { brought: true, ..file });
            }
        }
        Ok(())
    }

    /// Adds the sessions in a container file to the sessions to import.
    fn add_contained(
        &mut self,
        container: &dyn SessionContainer,
        path: &Path,
        report: &mut ImportReport,
    ) {
        let Some(dialect) = self.engine.agent_formats().named(container.dialect()) else { return };
        match ContainedSession::of(container, path, self.options.only.as_deref()) {
            Ok(sessions) => {
                let sessions = sessions.into_iter();
                self.found.extend(
                    sessions.map(|(path, session)| Candidate::contained(path, dialect, session)),
                );
            }
            Err(error) => {
                report.skipped += 1;
                report.problems.push(contained::refused(path, &error));
            }
        }
    }

    /// Returns the agent format of a file. If the options name a format, returns that format and
    /// does not examine the content. If the content matches no format, returns the format of the
    /// file's last import, because the file may have been rewritten since. Returns `None` if the
    /// file was never imported either.
    fn whose(&self, path: &Path, file: &Opened) -> Result<Option<&'static dyn AgentFormat>> {
        let formats = self.engine.agent_formats();
        if let Some(dialect) = self.only.or_else(|| formats.detect(path, &file.head)) {
            return Ok(Some(dialect));
        }
        let latest = source_state::latest(self.sources, &file.seen.path)?;
        Ok(latest.and_then(|source| formats.named(&source.dialect)))
    }

    /// Returns the problem message for a file whose agent format is unknown. The message says that
    /// the file is empty, or else names the known formats.
    fn unknown(&self, file: &Opened) -> String {
        if file.head.is_empty() {
            return "the file is empty".to_owned();
        }
        format!("{NO_RECORDS}; known are {}", names_of(self.engine))
    }
}

/// Returns the agent format with this name. Fails if there is none.
pub(crate) fn format_named(engine: &Engine, name: &str) -> Result<&'static dyn AgentFormat> {
    engine.agent_formats().named(name).ok_or_else(|| {
        Error::invalid("dialect", format!("a dialect is one of {}", names_of(engine)))
    })
}

/// Returns the names of all known agent formats, separated by commas.
fn names_of(engine: &Engine) -> String {
    let names: Vec<_> = engine.agent_formats().0.iter().map(|dialect| dialect.name()).collect();
    names.join(", ")
}
