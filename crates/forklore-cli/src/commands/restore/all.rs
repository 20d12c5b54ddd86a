//! `restore --all`: writes all files of an imported session, with their relative paths.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use forklore::Engine;
use forklore::api::{DamagedFile, RestoreAll, RestoredFiles, WrittenFile};
use forklore::core::ErrorKind;
use forklore::engine::StoredFile;
use forklore_sanitize::path::file_below;

use crate::failure::{Failure, Result};
use crate::new_file;
use crate::output::{Output, Page, Tone, bytes, count};

/// Writes the latest stored version of each of a session's files to its relative path below a
/// folder. If a file exists at one of these paths, and may not be replaced, writes none of the
/// files.
pub(super) fn run(request: &RestoreAll, engine: &Engine, output: &mut Output) -> Result<()> {
    let RestoreAll { session_id, path: folder, overwrite } = request;
    let files = engine.files(session_id)?;
    let (mut locations, mut gone) = (Vec::new(), Vec::new());
    for file in files.iter().filter(|file| file.about.latest) {
        // Skip a file whose stored bytes were erased. Do not skip the session's own file, so that
        // writing it reports an error.
        if file.about.gone && !file.about.own {
            gone.push(file.about.name.clone());
            continue;
        }
        let path = file_below(folder, file.relative_path()).map_err(new_file::refused)?;
        if !overwrite && path.symlink_metadata().is_ok() {
            let there = format!("{} is there already; nothing was written", path.display());
            return Err(Failure::refused(ErrorKind::AlreadyExists, there));
        }
        locations.push((file, path));
    }
    let (mut written, mut damaged) = (Vec::new(), Vec::new());
    for (file, location) in locations {
        match write(file, location, *overwrite, engine) {
            Ok(done) => written.push(done),
            Err(error) if !file.about.own && error.kind() == ErrorKind::Corrupt => {
                let name = file.about.name.clone();
                damaged.push(DamagedFile { name, message: error.to_string() });
            }
            Err(error) => return Err(error),
        }
    }
    let bytes = written.iter().map(|file| file.bytes).sum();
    let answer = RestoredFiles { path: folder.to_owned(), files: written, bytes, gone, damaged };
    let failure = answer.damaged.first().map(|file| {
        let damaged = count(answer.damaged.len() as u64, "file");
        let message = format!("{damaged} cannot be restored: {}: {}", file.name, file.message);
        Failure::refused(ErrorKind::Corrupt, message).or_try("forklore verify")
    });
    output.answer_with(&answer, |page| show(page, &answer), failure.as_ref())?;
    failure.map_or(Ok(()), |failure| Err(Failure::Answered(failure.kind())))
}

fn write(
    file: &StoredFile,
    path: PathBuf,
    overwrite: bool,
    engine: &Engine,
) -> Result<WrittenFile> {
    let restored = new_file::write(&path, overwrite, |out| {
        let mut out = BufWriter::new(out);
        let restored = engine.restore_file(file, &mut out)?;
        out.flush().map_err(new_file::failed(&path))?;
        Ok(restored)
    })?;
    let (bytes, revision) = (restored.bytes, restored.revision);
    Ok(WrittenFile { name: file.about.name.clone(), path, bytes, revision })
}

fn show(page: &mut Page, answer: &RestoredFiles) {
    let files = count(answer.files.len() as u64, "file");
    page.put(Tone::Good, "Wrote ").put(Tone::Plain, format!("{files} ("));
    page.put(Tone::Plain, bytes(answer.bytes)).put(Tone::Plain, ") below ");
    page.put(Tone::Strong, answer.path.display()).end();
    for name in &answer.gone {
        page.put(Tone::Warn, "deleted   ").put(Tone::Plain, name).end();
    }
    for file in &answer.damaged {
        page.put(Tone::Bad, "damaged   ").put(Tone::Plain, &file.name);
        page.put(Tone::Plain, "  ").put(Tone::Plain, &file.message).end();
    }
}
