//! A store into which tests import files, with access to the store's content.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use forklore_core::workspace::Workspace;
use forklore_core::{Header, SessionId};
use forklore_engine::Engine;
use forklore_files::FilesStore;
use forklore_formats::AGENT_FORMATS;
use forklore_import::{ImportOptions, ImportReport, Importer};
use forklore_sqlite::{Options, SqliteStore};
use forklore_store::Store;
use forklore_store::memory::MemoryStore;
use forklore_store::port::{At, Filter, LogEntry};
use forklore_store::sources::{
    FindSource, LineEnd, Progress, SeenFile, Source, SourceSpan, SourceStep, Target, WaitingLine,
};

/// An engine with its own empty store, and a temporary folder for files to import.
pub(crate) struct Scene {
    pub(crate) engine: Engine,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) folder: tempfile::TempDir,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::over(Arc::new(MemoryStore::default()), tempfile::tempdir().unwrap())
    }

    pub(crate) fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite");
        Self::over(Arc::new(SqliteStore::open(&path, Options::default()).unwrap()), folder)
    }

    pub(crate) fn files() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        Self::over(Arc::new(FilesStore::open(&path, Default::default()).unwrap()), folder)
    }

    pub(crate) fn over(store: Arc<dyn Store>, folder: tempfile::TempDir) -> Self {
        let engine = Engine::new(store.clone()).with_agent_formats(AGENT_FORMATS);
        Self { engine, store, folder }
    }

    /// Closes the store, replaces `bytes` by `other` in the store's files, and opens the store
    /// again.
    pub(crate) fn damaged(self, bytes: &[u8], other: &[u8]) -> (Engine, tempfile::TempDir) {
        assert_eq!(bytes.len(), other.len());
        let files = self.files_of_store();
        let Self { folder, .. } = self;
        for path in files.iter().filter(|path| path.is_file()).cloned().chain(inside(&files)) {
            let mut whole = std::fs::read(&path).unwrap();
            let matches = whole.windows(bytes.len()).enumerate().filter(|(_, it)| *it == bytes);
            for at in matches.map(|(at, _)| at).collect::<Vec<_>>() {
                whole[at..at + other.len()].copy_from_slice(other);
            }
            std::fs::write(&path, whole).unwrap();
        }
        let path = folder.path().join("store");
        let engine = if path.is_dir() {
            Engine::new(Arc::new(FilesStore::open(&path, Default::default()).unwrap()))
        } else {
            let path = folder.path().join("store.sqlite");
            Engine::new(Arc::new(SqliteStore::open(&path, Options::default()).unwrap()))
        };
        (engine.with_agent_formats(AGENT_FORMATS), folder)
    }

    /// Checks whether the store has files. A memory store has none.
    pub(crate) fn on_disk(&self) -> bool {
        !self.files_of_store().is_empty()
    }

    /// Checks whether a file of the store contains these bytes.
    pub(crate) fn holds(&self, bytes: &[u8]) -> bool {
        let mut files = self.files_of_store();
        while let Some(path) = files.pop() {
            if path.is_dir() {
                files.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            } else if std::fs::read(path).unwrap().windows(bytes.len()).any(|it| it == bytes) {
                return true;
            }
        }
        false
    }

    fn files_of_store(&self) -> Vec<PathBuf> {
        let all = std::fs::read_dir(self.folder.path()).unwrap().map(|it| it.unwrap().path());
        let is_store =
            |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("store");
        all.filter(is_store).collect()
    }

    pub(crate) fn options() -> ImportOptions {
        ImportOptions::in_workspace(Workspace::new("/here"))
    }

    pub(crate) fn import(&self, path: &Path) -> ImportReport {
        self.import_with(path, &Self::options())
    }

    pub(crate) fn import_as(&self, path: &Path, dialect: &str) -> ImportReport {
        self.import_with(path, &ImportOptions { from: Some(dialect.into()), ..Self::options() })
    }

    pub(crate) fn import_with(&self, path: &Path, options: &ImportOptions) -> ImportReport {
        Importer::new(&self.engine).import(&[path.to_owned()], options, &mut |_| {}).unwrap()
    }

    /// Imports the file with another first line, and then records the real file as the source.
    /// Earlier versions of forklore, which did not support `history_base`, left this state.
    pub(crate) fn import_as_root(&self, path: &Path, first_line: &str, dialect: &str) {
        let real = std::fs::read(path).unwrap();
        let rest = real.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        std::fs::write(path, [first_line.as_bytes(), &real[rest..]].concat()).unwrap();
        let report = self.import_as(path, dialect);
        let source = self.source(&report.sessions[0].session_id);
        std::fs::write(path, &real).unwrap();
        let first: serde_json::Value =
            serde_json::from_slice(real.split(|byte| *byte == b'\n').next().unwrap()).unwrap();
        let base = &first["payload"]["history_base"];
        let mut state: serde_json::Value = serde_json::from_str(&source.read.state).unwrap();
        state["facts"]["base"] = serde_json::json!({
            "native_id": base["thread_id"], "end": base["end_ordinal_exclusive"], "bytes": null
        });
        let read = Progress { state: state.to_string(), ..source.read.clone() };
        let step = SourceStep {
            target: Target::State { id: source.id, offset: source.read.offset },
            native_id: source.native_id.clone(),
            seen: SeenFile { path: source.paths[0].path.clone(), size: 0, modified: 0 },
            ranges: Vec::new(),
            locations: Vec::new(),
            names: Vec::new(),
            sidecar_of: None,
            read,
            last: true,
        };
        self.store.import(Vec::new(), step).unwrap();
    }

    /// Writes a file in the scene's folder, and returns its path.
    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn restore(&self, session: &SessionId) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.engine.restore(session, &mut bytes).unwrap();
        bytes
    }

    pub(crate) fn sessions(&self) -> Vec<Header> {
        let filter = Filter { deleted: true, ..Filter::default() };
        let mut found = self.store.sessions(&filter, None, 0).unwrap().all().unwrap();
        found.sort_by(|a, b| a.id.cmp(&b.id));
        found
    }

    pub(crate) fn events(&self, session: &SessionId) -> Vec<LogEntry> {
        self.engine.events(session, At::Seq(0)).map(Result::unwrap).collect()
    }

    /// Checks whether the event was first written in this session.
    pub(crate) fn is_own(stored: &LogEntry, session: &SessionId) -> bool {
        stored.origin.session_id == *session
    }

    /// Returns the headers and events of all sessions, for the comparison of two stores.
    pub(crate) fn everything(&self) -> Vec<(Header, Vec<LogEntry>)> {
        let plain = |mut header: Header| {
            // The path of the imported file may differ between the stores.
            header.source = None;
            header
        };
        let sessions = self.sessions().into_iter();
        sessions.map(|header| (plain(header.clone()), self.events(&header.id))).collect()
    }

    pub(crate) fn source(&self, session: &SessionId) -> Source {
        self.store.sources(&FindSource::Session(session.clone())).unwrap().remove(0)
    }

    /// Returns the spans of the session's source. The result does not depend on the import steps
    /// that wrote the spans.
    pub(crate) fn ranges(&self, session: &SessionId) -> Vec<Stretch> {
        let source = self.source(session).id;
        let mut all: Vec<Stretch> = Vec::new();
        let mut waiting = WaitingLine::default();
        let mut step = 0;
        while let Some(ranges) = self.store.source_spans(source, step).unwrap() {
            for range in ranges {
                waiting.follow(&range);
                match range {
                    SourceSpan::Waiting { .. } => {}
                    SourceSpan::Events { session, from, count, end } => {
                        for position in from..from + count {
                            all.push(Stretch::Event(session, position));
                            add_other(&mut all, end.bytes());
                        }
                    }
                    SourceSpan::Other(bytes) => add_other(&mut all, &bytes),
                    SourceSpan::Raw { session, position, bytes } => {
                        all.push(Stretch::Raw(session, position, bytes));
                    }
                    SourceSpan::Spread { session, position, margin, indent, end } => {
                        all.push(Stretch::Event(session, position));
                        add_other(&mut all, &[margin, indent, end.bytes().to_vec()].concat());
                    }
                    other => panic!("{other:?}"),
                }
            }
            step += 1;
        }
        if !waiting.bytes().is_empty() {
            all.push(Stretch::Waiting(waiting.bytes().to_vec()));
        }
        all
    }
}

/// Returns the files that are directly in a folder among these paths.
fn inside(paths: &[PathBuf]) -> Vec<PathBuf> {
    let folders = paths.iter().filter(|path| path.is_dir());
    let entries = folders.flat_map(|folder| std::fs::read_dir(folder).unwrap());
    entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect()
}

/// A span of a source's bytes, split as finely as possible.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stretch {
    Event(u32, u64),
    Other(Vec<u8>),
    Raw(u32, u64, Vec<u8>),
    Waiting(Vec<u8>),
}

fn add_other(all: &mut Vec<Stretch>, bytes: &[u8]) {
    match all.last_mut() {
        _ if bytes == LineEnd::None.bytes() => {}
        Some(Stretch::Other(before)) => before.extend_from_slice(bytes),
        _ => all.push(Stretch::Other(bytes.to_vec())),
    }
}
