//! Stores sidecar files byte for byte.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use forklore_core::SessionId;
use forklore_engine::sources::{is_erased, path_text};
use forklore_engine::{Engine, Error, Result};
use forklore_store::Error as StoreError;
use forklore_store::Store;
use forklore_store::sources::{
    Progress, RecordKey, SeenFile, Source, SourceId, SourceSpan, SourceStep, Target,
};
use sha2::{Digest, Sha256};

use crate::file_metadata;
use crate::opened::Opened;
use crate::options::{ATTEMPTS, ImportOptions};
use crate::progress::Progressed;
use crate::record_keys::record_key;
use crate::report::{ImportReport, OfFile as _, Problem, ProblemKind, StoredSidecar};
use crate::sidecar::Sidecar;
use crate::source_state;

/// Maximum number of bytes of a sidecar file that are written to the store in one step.
const STEP: u64 = 8 << 20;
const NOT_THERE: &str = "the session that the file belongs to was not imported";

/// Stores the sidecar files of one import: files without a session that belong to session files.
pub(crate) struct SidecarStore<'a> {
    engine: &'a Engine,
    sources: &'a dyn Store,
    options: &'a ImportOptions,
    /// A cache of the states of the session files to which sidecar files belong, by the path of the
    /// session file.
    owners: HashMap<PathBuf, Owner>,
}

/// The import state of a session file to which sidecar files belong.
#[derive(Clone)]
enum Owner {
    /// The session file was imported, and none of its sessions was deleted. `session` is its first
    /// session.
    Living { session: SessionId, dialect: String },
    /// At least one session of the session file was deleted.
    Deleted,
    /// The session file was not imported, or contains no session.
    Absent,
}

/// How a sidecar file differs from what the store has of it.
enum SidecarState {
    Unchanged,
    /// The store has erased the sidecar file's bytes, because a session was deleted.
    Erased,
    Grown {
        id: SourceId,
        offset: u64,
        hash: Box<Sha256>,
    },
    New {
        revision: u64,
        latest: Option<SourceId>,
    },
}

impl<'a> SidecarStore<'a> {
    pub(crate) fn new(
        engine: &'a Engine,
        sources: &'a dyn Store,
        options: &'a ImportOptions,
    ) -> Self {
        Self { engine, sources, options, owners: HashMap::new() }
    }

    /// Stores the bytes of a sidecar file that the store does not have yet. Tries again if a
    /// concurrent import was faster, with up to [`ATTEMPTS`] attempts in total.
    pub(crate) fn store(
        &mut self,
        sidecar: &Sidecar,
        progress: &mut dyn FnMut(Progressed<'_>),
        report: &mut ImportReport,
    ) -> Result<()> {
        for _ in 1..ATTEMPTS {
            match self.attempt(sidecar, progress, report) {
                Err(Error::Store(StoreError::Stale { .. })) => self.owners.clear(),
                Err(Error::Io { doing, source }) => {
                    let message = format!("{doing}: {source}");
                    let kind = ProblemKind::Unreadable;
                    report.problems.push(Problem::of_file(&sidecar.path, kind, message));
                    report.skipped += 1;
                    return Ok(());
                }
                done => return done,
            }
        }
        self.attempt(sidecar, progress, report)
    }

    fn attempt(
        &mut self,
        sidecar: &Sidecar,
        progress: &mut dyn FnMut(Progressed<'_>),
        report: &mut ImportReport,
    ) -> Result<()> {
        let session = match self.owner(&sidecar.of)? {
            Owner::Living { session, dialect } if dialect == sidecar.format.name() => session,
            Owner::Deleted => {
                report.skipped += 1;
                return Ok(());
            }
            Owner::Living { .. } | Owner::Absent => {
                report.skipped += 1;
                if sidecar.named {
                    let kind = ProblemKind::MissingBase;
                    report.problems.push(Problem::of_file(&sidecar.path, kind, NOT_THERE.into()));
                }
                return Ok(());
            }
        };
        let path = &sidecar.path;
        let unreadable = |error| Error::io(format!("cannot read {}", path.display()), error);
        let latest = self.latest(path)?;
        let look = file_metadata::look(path).map_err(unreadable)?;
        let same = |source: &Source| !self.options.again && source.paths.contains(&look);
        let state = if latest.as_ref().is_some_and(same) {
            SidecarState::Unchanged
        } else {
            let file = Opened::literal(path).map_err(unreadable)?;
            let state = self.state(&file, latest).map_err(|error| match error {
                Error::Io { source, .. } => unreadable(source),
                error => error,
            })?;
            if let Some((target, hash, offset)) = start(&state, sidecar) {
                let writing = Writing { sidecar, file: &file, target, hash, offset };
                let bytes = writing.run(self, progress)?;
                report.add_sidecar(stored(sidecar, session, bytes, false));
                return Ok(());
            }
            state
        };
        if matches!(state, SidecarState::Erased) {
            report.skipped += 1;
        } else {
            report.add_sidecar(stored(sidecar, session, 0, true));
        }
        Ok(())
    }

    fn latest(&self, path: &Path) -> Result<Option<Source>> {
        source_state::latest(self.sources, &path_text(path))
    }

    fn owner(&mut self, of: &Path) -> Result<Owner> {
        if let Some(owner) = self.owners.get(of) {
            return Ok(owner.clone());
        }
        let owner = match self.latest(of)? {
            None => Owner::Absent,
            Some(source) if self.engine.has_deleted(&source)? => Owner::Deleted,
            Some(source) => match source.sessions.into_iter().next() {
                None => Owner::Absent,
                Some(first) => Owner::Living { session: first.id, dialect: source.dialect },
            },
        };
        self.owners.insert(of.to_owned(), owner.clone());
        Ok(owner)
    }

    fn state(&self, file: &Opened, latest: Option<Source>) -> Result<SidecarState> {
        let Some(source) = latest else {
            return Ok(SidecarState::New { revision: 0, latest: None });
        };
        let anew = SidecarState::New { revision: source.revision + 1, latest: Some(source.id) };
        if is_erased(self.sources, &source)? {
            return Ok(if self.options.again { anew } else { SidecarState::Erased });
        }
        if !source.sessions.is_empty() {
            return Ok(anew);
        }
        let prefix = file.prefix(source.read.offset, &source.read.sha256);
        Ok(match prefix.map_err(|error| Error::io("cannot read the file", error))? {
            Some(_) if source.paths.contains(&file.seen) => SidecarState::Unchanged,
            Some(hash) => {
                let (id, offset) = (source.id, source.read.offset);
                SidecarState::Grown { id, offset, hash: Box::new(hash) }
            }
            None => anew,
        })
    }
}

/// Returns where to write the new bytes of a sidecar file. Also returns the sha256 state and the
/// number of the bytes that the store already has of the file. Returns `None` if there is nothing
/// to write.
fn start(state: &SidecarState, sidecar: &Sidecar) -> Option<(Target, Sha256, u64)> {
    match state {
        SidecarState::Unchanged | SidecarState::Erased => None,
        SidecarState::Grown { id, offset, hash } => {
            let target = Target::State { id: *id, offset: *offset };
            Some((target, Sha256::clone(hash), *offset))
        }
        SidecarState::New { revision, latest } => {
            let target = Target::New {
                dialect: sidecar.format.name().to_owned(),
                revision: *revision,
                first_line: no_first_line(&sidecar.path),
                latest: *latest,
            };
            Some((target, Sha256::new(), 0))
        }
    }
}

/// Returns the key that the store has for a sidecar file instead of a first-line key. No session
/// file has this key as its first-line key. Otherwise an import could mistake a session file for a
/// moved sidecar file.
fn no_first_line(path: &Path) -> RecordKey {
    record_key(format!("\nbeside\0{}", path_text(path)).as_bytes())
}

fn stored(sidecar: &Sidecar, session: SessionId, bytes: u64, unchanged: bool) -> StoredSidecar {
    let path = path_text(&sidecar.path);
    StoredSidecar { path, dialect: sidecar.format.name().to_owned(), session, bytes, unchanged }
}

/// Writes one sidecar file to the store.
struct Writing<'a> {
    sidecar: &'a Sidecar,
    file: &'a Opened,
    target: Target,
    hash: Sha256,
    offset: u64,
}

impl Writing<'_> {
    /// Writes the sidecar file's bytes from `offset` on, up to the size that the file had when it
    /// was opened. Ends earlier if the import is stopped. Returns the number of bytes written.
    fn run(
        mut self,
        store: &SidecarStore<'_>,
        progress: &mut dyn FnMut(Progressed<'_>),
    ) -> Result<u64> {
        let (before, path) = (self.offset, &self.sidecar.path);
        let failed = |error| Error::io(format!("cannot read {}", path.display()), error);
        let mut rest = self.file.rest(self.offset).map_err(failed)?;
        loop {
            let mut bytes = Vec::new();
            let read = rest.by_ref().take(STEP).read_to_end(&mut bytes).map_err(failed)? as u64;
            self.hash.update(&bytes);
            self.offset += read;
            let last = read < STEP;
            let id = store.sources.import(Vec::new(), self.step(bytes, last))?;
            self.target = Target::State { id, offset: self.offset };
            progress(Progressed::of(path, self.offset, self.file.seen.size));
            if last || store.options.is_stopped() {
                return Ok(self.offset - before);
            }
        }
    }

    fn step(&self, bytes: Vec<u8>, last: bool) -> SourceStep {
        // If the file became shorter during the read, the stored size 0 makes the next import read
        // it again.
        let whole = last && self.offset == self.file.seen.size;
        let path = self.file.seen.path.clone();
        let seen =
            if whole { self.file.seen.clone() } else { SeenFile { path, size: 0, modified: 0 } };
        let name = self.sidecar.path.file_name().map(|name| path_text(Path::new(name)));
        SourceStep {
            target: self.target.clone(),
            native_id: name.unwrap_or_default(),
            seen,
            ranges: if bytes.is_empty() { Vec::new() } else { vec![SourceSpan::Other(bytes)] },
            locations: Vec::new(),
            names: Vec::new(),
            sidecar_of: Some(path_text(&self.sidecar.of)),
            read: Progress {
                offset: self.offset,
                sha256: self.hash.clone().finalize().into(),
                state: String::new(),
            },
            last,
        }
    }
}
