//! Imports that pause just before they store the reference to an attachment.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use forklore::Engine;
use forklore::import::{ImportOptions, Importer};
use forklore_core::workspace::Workspace;
use forklore_core::{Header, SessionId};
use forklore_store::attachments::Attachments;
use forklore_store::port::{
    Capabilities, Changes, Committed, Cursor, Filter, Headers, Page, Query, Since, Transaction,
    Verification,
};
use forklore_store::sources::{
    FindSource, RecordKey, RecordLocation, Source, SourceId, SourceSpan,
};
use forklore_store::{Result, Store};

use crate::kind::Opened;
use crate::process::{Task, await_go, tell};

/// A store that pauses before each transaction of an import, until the parent process sends the go
/// signal.
struct Waiting(Arc<dyn Store>);

impl Store for Waiting {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn commit(&self, transaction: Transaction) -> Result<Committed> {
        tell(&"about to write");
        await_go();
        self.0.commit(transaction)
    }

    fn header(&self, session: &SessionId) -> Result<Header> {
        self.0.header(session)
    }

    fn read(&self, session: &SessionId, query: &Query) -> Result<Page> {
        self.0.read(session, query)
    }

    fn read_in_trash(&self, session: &SessionId, query: &Query) -> Result<Page> {
        self.0.read_in_trash(session, query)
    }

    fn sessions(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> Result<Headers> {
        self.0.sessions(filter, after, limit)
    }

    fn changes(&self, since: &Since, limit: usize, wait: Duration) -> Result<Changes> {
        self.0.changes(since, limit, wait)
    }

    fn verify(&self, session: Option<&SessionId>) -> Result<Verification> {
        self.0.verify(session)
    }

    fn attachments(&self) -> Option<Arc<dyn Attachments>> {
        Store::attachments(&*self.0)
    }

    fn sources(&self, by: &FindSource) -> Result<Vec<Source>> {
        self.0.sources(by)
    }

    fn locate_record(&self, source: SourceId, record: RecordKey) -> Result<Option<RecordLocation>> {
        self.0.locate_record(source, record)
    }

    fn source_spans(&self, source: SourceId, step: u64) -> Result<Option<Vec<SourceSpan>>> {
        self.0.source_spans(source, step)
    }
}

/// Returns the path of file number `number` in a directory.
#[must_use]
pub fn file(folder: &Path, number: u64) -> std::path::PathBuf {
    folder.join(format!("{number}.jsonl"))
}

/// Imports files of a directory, as many as the task has calls. Waits for the parent's go signal
/// after each file.
///
/// # Errors
/// The errors of the import.
///
/// # Panics
/// If the task names no directory.
pub fn import(opened: &Opened, task: &Task) -> std::result::Result<(), forklore::Error> {
    let engine = Engine::new(Arc::new(Waiting(opened.handle.store.clone())))
        .with_agent_formats(forklore::formats::AGENT_FORMATS);
    let folder = task.file.as_deref().expect("a folder of files");
    let options = ImportOptions::in_workspace(Workspace::new("/here"));
    for number in 0..task.calls {
        Importer::new(&engine).import(&[file(folder, number)], &options, &mut |_| {})?;
        tell(&"written");
        await_go();
    }
    Ok(())
}
