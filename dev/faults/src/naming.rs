//! An import in the moment in which it is about to name an attachment.

use std::path::Path;
use std::sync::Arc;

use forklore::engine::ImportOptions;
use forklore_core::workspace::Workspace;
use forklore_store::Result;
use forklore_store::sources::{
    FindSource, Place, Range, RecordKey, Source, SourceId, Sources, Step,
};

use crate::kind::Opened;
use crate::process::{Task, await_go, tell};
use crate::subject::Whole;

/// The sources of a store, where each step waits before it is written until somebody says go.
struct Waiting(Arc<dyn Whole>);

impl Sources for Waiting {
    fn sources(&self, by: &FindSource) -> Result<Vec<Source>> {
        self.0.sources(by)
    }

    fn place(&self, source: SourceId, record: RecordKey) -> Result<Option<Place>> {
        self.0.place(source, record)
    }

    fn ranges(&self, source: SourceId, step: u64) -> Result<Option<Vec<Range>>> {
        self.0.ranges(source, step)
    }

    fn import(&self, step: Step) -> Result<SourceId> {
        tell(&"about to write");
        await_go();
        self.0.import(step)
    }
}

/// The file number `number` in a folder.
#[must_use]
pub fn file(folder: &Path, number: u64) -> std::path::PathBuf {
    folder.join(format!("{number}.jsonl"))
}

/// Imports as many files of a folder as the task says, each when it is told to go.
///
/// # Errors
/// Those of the import.
///
/// # Panics
/// When the task names no folder.
pub fn import(opened: &Opened, task: &Task) -> std::result::Result<(), forklore::Error> {
    let engine = opened.engine.clone().with_sources(Arc::new(Waiting(opened.whole.clone())));
    let folder = task.file.as_deref().expect("a folder of files");
    let options = ImportOptions::in_workspace(Workspace::new("/here"));
    for number in 0..task.calls {
        engine.import(&[file(folder, number)], &options, &mut |_| {})?;
        tell(&"written");
        await_go();
    }
    Ok(())
}
