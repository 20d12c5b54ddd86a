//! What leaves the store: exports, and the files from which sessions were imported.

use forklore::Engine;
use forklore_api::{Export, Restore};
use forklore_core::ErrorKind;

use crate::failure::{Failure, Result};

/// Returns the bytes of an export.
pub(crate) fn export(engine: &Engine, request: &Export) -> Result<Vec<u8>> {
    refuse_path(request.path.is_some())?;
    let header = engine.show(&request.session_id)?;
    let mut bytes = Vec::new();
    forklore::Export::new(engine, &header, &request.to)?.write(&mut bytes)?;
    Ok(bytes)
}

/// Returns the bytes of the file from which a session was imported, or of another file of it.
pub(crate) fn restore(engine: &Engine, request: &Restore) -> Result<Vec<u8>> {
    let Restore { session_id, file, revision, path, overwrite: _ } = request;
    refuse_path(path.is_some())?;
    let mut bytes = Vec::new();
    let Some(name) = file else {
        engine.restore(session_id, &mut bytes)?;
        return Ok(bytes);
    };
    let mut files = engine.files(session_id)?.into_iter();
    let found = files.find(|stored| {
        let file = &stored.about;
        file.name == *name && revision.map_or(file.latest, |revision| file.revision == revision)
    });
    let found = found.ok_or_else(|| {
        let missing = "the session has no file of that name and revision";
        Failure::new(ErrorKind::NotFound, missing).or_try("list the files of the session")
    })?;
    engine.restore_file(&found, &mut bytes)?;
    Ok(bytes)
}

/// Refuses to write a file: the bytes are the caller's, who knows what may be replaced.
fn refuse_path(is_named: bool) -> Result<()> {
    match is_named {
        true => Err(Failure::invalid("path: the bytes are returned, not written to a file")),
        false => Ok(()),
    }
}
