//! The files that exist only in the store, because a program passes their lines on.

use std::io::Write;

use forklore_core::{Selector, SessionId};
use forklore_engine::{Engine, Error, Result};
use forklore_store::sources::{FindSource, RecordKey, Source, SourceSpan};

use crate::discovery;
use crate::importer::Importer;
use crate::lookup::Lookup;
use crate::options::WrittenFrom;
use crate::record_keys::record_key;
use crate::resume_state::ResumeState;
use crate::source_state;

/// A file that exists only in the store.
#[derive(Clone, Debug, PartialEq)]
pub struct PushedFile {
    /// The path of the file.
    pub path: String,
    /// The sessions of the file, in the order in which they begin. Empty if no line became an event.
    pub sessions: Vec<SessionId>,
    /// The session that the agent would resume; `None` if the file has no session.
    pub leaf: Option<SessionId>,
    /// When a line was last added, in nanoseconds since the Unix epoch.
    pub modified: i64,
    /// The note of the last push; `None` if there is none that describes the whole file.
    pub note: Option<String>,
    /// For a fork, the agent's id of the session that was forked. The file does not repeat the
    /// history that the fork inherits.
    pub fork_of: Option<String>,
    source: Source,
}

/// Where a fork begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushedFork {
    pub(crate) from: WrittenFrom,
    /// The agent's id of the session that is forked.
    pub(crate) native_id: String,
}

impl Importer<'_> {
    /// Returns the file at this path. Returns `None` if it does not exist, or if its first session
    /// was deleted.
    ///
    /// # Errors
    /// `unsupported` if the store does not support sources, and failures of the store.
    pub fn pushed(&self, path: &str) -> Result<Option<PushedFile>> {
        self.present(path)?.map(|source| self.pushed_file(source, path)).transpose()
    }

    /// Returns the files under the name of this folder, oldest first. Leaves out those of which the
    /// first session was deleted.
    ///
    /// # Errors
    /// The errors of [`pushed`](Self::pushed).
    pub fn pushed_in(&self, agent: &str, folder: &str) -> Result<Vec<PushedFile>> {
        let by = FindSource::Name(folder_name(agent, folder));
        let mut sources = self.engine.sources()?.sources(&by)?;
        sources.sort_by_key(|source| source.id);
        let mut files: Vec<PushedFile> = Vec::new();
        for source in sources {
            let Some(path) = source.paths.first().map(|seen| seen.path.clone()) else { continue };
            files.retain(|file| file.path != path);
            if is_living(self.engine, &source)? {
                files.push(self.pushed_file(source, &path)?);
            }
        }
        Ok(files)
    }

    /// Writes the lines of a file to `out`, each with a line end, as they were pushed.
    ///
    /// # Errors
    /// `conflict` if a session of the file was deleted or an event of it redacted, `corrupt` if
    /// stored data is damaged, and the error of writing to `out`.
    pub fn read_pushed(&self, file: &PushedFile, out: &mut dyn Write) -> Result<()> {
        self.restore_pushed(&file.source, out)
    }

    /// Returns where a fork of a file begins: after the record with this id, or at the end of the
    /// session that the agent would resume. The record may be inherited from another file.
    ///
    /// # Errors
    /// `invalid_args` if the file has no session or no such record, and failures of the store.
    pub fn fork_point(&self, file: &PushedFile, record: Option<&str>) -> Result<PushedFork> {
        let (Some(first), Some(leaf)) = (file.sessions.first(), &file.leaf) else {
            return Err(Error::invalid("session", "the session has no messages to fork"));
        };
        let native_id = file.source.native_id.clone();
        let Some(id) = record else {
            return Ok(PushedFork { from: self.from(leaf.clone(), Selector::End)?, native_id });
        };
        let (engine, sources) = (self.engine, self.engine.sources()?);
        let format = discovery::format_named(engine, &file.source.dialect)?;
        let (lookup, key) = (Lookup { engine, sources, format }, record_key(id.as_bytes()));
        let found = match lookup.record_in(&file.source, key)? {
            Some(found) => Some(found),
            None => lookup.inherited_record(&engine.show(first)?, key)?,
        };
        let Some(found) = found else {
            return Err(Error::invalid("at", format!("the session has no record {id:?}")));
        };
        let seq = i64::try_from(found.seq).unwrap_or(i64::MAX);
        Ok(PushedFork { from: self.from(found.session, Selector::Seq(seq))?, native_id })
    }

    fn from(&self, session: SessionId, at: Selector) -> Result<WrittenFrom> {
        let workspace = self.engine.show(&session)?.workspace;
        Ok(WrittenFrom { session, at, workspace })
    }

    /// Returns the latest source at this path, unless its first session was deleted.
    fn present(&self, path: &str) -> Result<Option<Source>> {
        let Some(source) = source_state::latest(self.engine.sources()?, path)? else {
            return Ok(None);
        };
        Ok(is_living(self.engine, &source)?.then_some(source))
    }

    pub(crate) fn restore_pushed(&self, source: &Source, out: &mut dyn Write) -> Result<()> {
        if let Some(first) = source.sessions.first() {
            return self.engine.restore(&first.id, out).map(|_| ());
        }
        // No line became an event, so all bytes are in the source itself.
        let mut step = 0;
        while let Some(spans) = self.engine.sources()?.source_spans(source.id, step)? {
            for span in spans {
                if let SourceSpan::Other(bytes) = span {
                    out.write_all(&bytes).map_err(|error| Error::io("writing the lines", error))?;
                }
            }
            step += 1;
        }
        Ok(())
    }

    fn pushed_file(&self, source: Source, path: &str) -> Result<PushedFile> {
        let state = ResumeState::read(&source.read.state);
        let sessions: Vec<_> = source.sessions.iter().map(|session| session.id.clone()).collect();
        let leaf = state.leaf().and_then(|at| sessions.get(usize::try_from(at).ok()?));
        let leaf = leaf.or(sessions.first()).cloned();
        let seen = source.paths.iter().find(|seen| seen.path == path);
        let mut modified = seen.map_or(0, |seen| seen.modified);
        if modified == 0
            && let Some(first) = sessions.first()
        {
            // The last push was interrupted.
            let updated = self.engine.store().header(first)?.updated.as_nanosecond();
            modified = i64::try_from(updated).unwrap_or(0);
        }
        let pushed = state.pushed.unwrap_or_default();
        let note = pushed.note(source.read.offset).map(str::to_owned);
        let (path, fork_of) = (path.to_owned(), pushed.fork_of().cloned());
        Ok(PushedFile { path, sessions, leaf, modified, note, fork_of, source })
    }
}

/// Checks that the first session of a file was not deleted. A file without sessions is living.
pub(crate) fn is_living(engine: &Engine, source: &Source) -> Result<bool> {
    let Some(first) = source.sessions.first() else { return Ok(true) };
    Ok(engine.store().header(&first.id)?.deleted.is_none())
}

/// Returns the key under which the store finds the pushed files of a folder.
pub(crate) fn folder_name(agent: &str, folder: &str) -> RecordKey {
    record_key(format!("{agent}\0pushed into\0{folder}").as_bytes())
}
