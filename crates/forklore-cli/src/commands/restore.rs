//! `restore`: writes back, byte for byte, the files from which a session was imported, or creates a
//! store from a backup.

mod all;
mod store;

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use forklore::Engine;
use forklore::api::{Restore, RestoreAll, RestoredFile, SessionFile, SessionFiles};
use forklore::core::ErrorKind;
use forklore::engine::StoredFile;

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::new_file;
use crate::output::{Cell, Column, Output, Page, Table, Tone, bytes};
use crate::session_ref::SessionRef;

const EXAMPLES: &str = "\
Examples:
  forklore restore last -o again.jsonl
  forklore restore last | cmp - original.jsonl
  forklore restore last --list
  forklore restore last --all -o folder
  forklore restore last --file 5a1d0c2e/tool-results/toolu_01.txt
  forklore --store sqlite:new.db restore saved.db    makes a new store of a backup

Beside the file of a session may lie others: results of tools, notes on sub-agents, resources.

A backup is what forklore backup wrote. The new store is the one that --store names, or the default \
store, and must not exist yet. It is read to the end before it gets its name.";

/// Write the files of an imported session byte for byte, or a store from a backup
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A session of the file: an id, label or title, or last; or the path of a backup
    #[arg(value_name = "SESSION|BACKUP")]
    session: String,
    /// Write to this new file, or with --all to this folder [default: standard output]
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Replace files that are there
    #[arg(long, requires = "output")]
    force: bool,
    /// Show all files that are kept of the session, earlier revisions too
    #[arg(long, conflicts_with_all = ["output", "all", "file"])]
    list: bool,
    /// Write the session's file and all its sidecar files
    #[arg(long, requires = "output", conflicts_with = "file")]
    all: bool,
    /// Write this file instead of the session's own, by its name in the list
    #[arg(long, value_name = "NAME")]
    file: Option<String>,
    /// Which revision of the file [default: the latest]
    #[arg(long, value_name = "NUMBER", requires = "file")]
    revision: Option<u64>,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let path = Path::new(&args.session);
    let is_of_session = args.output.is_some() || args.list || args.file.is_some();
    if !is_of_session && forklore::store_at(path).is_some() {
        return store::run(path, app, output);
    }
    let reference = SessionRef::parse(&args.session)?;
    if reference.is_file() && path.symlink_metadata().is_err() {
        return Err(Failure::refused(ErrorKind::NotFound, "there is no backup at this path"));
    }
    let header = app.stored(&reference, output)?;
    let engine = app.engine()?;
    if args.list {
        return list(engine.files(&header.id)?, output);
    }
    if let (true, Some(folder)) = (args.all, &args.output) {
        let (path, overwrite) = (folder.clone(), args.force);
        let request = RestoreAll { session_id: header.id, path, overwrite };
        return all::run(&request, engine, output);
    }
    let request = Restore {
        session_id: header.id,
        file: args.file.clone(),
        revision: args.revision,
        path: args.output.clone(),
        overwrite: args.force,
    };
    one(&request, engine, output)
}

fn one(request: &Restore, engine: &Engine, output: &mut Output) -> Result<()> {
    let Restore { session_id, file, revision, path, overwrite } = request;
    let other = match file {
        Some(name) => Some(named(engine.files(session_id)?, name, *revision)?),
        None => None,
    };
    let restore = |out: &mut dyn Write| match &other {
        Some(file) => engine.restore_file(file, out),
        None => engine.restore(session_id, out),
    };
    let Some(path) = path else {
        restore(&mut output.lines())?;
        return Ok(());
    };
    let restored = new_file::write(path, *overwrite, |out| {
        let mut out = BufWriter::new(out);
        let restored = restore(&mut out)?;
        out.flush().map_err(new_file::failed(path))?;
        Ok(restored)
    })?;
    let answer = RestoredFile {
        path: path.clone(),
        bytes: restored.bytes,
        source: restored.path,
        revision: restored.revision,
    };
    output.answer(&answer, |page| {
        page.put(Tone::Good, "Wrote ").put(Tone::Plain, bytes(answer.bytes));
        page.put(Tone::Plain, " to ").put(Tone::Strong, path.display()).end();
        page.fact("read from", &answer.source);
    })
}

fn named(files: Vec<StoredFile>, name: &str, revision: Option<u64>) -> Result<StoredFile> {
    let fits = |StoredFile { about: file, .. }: &StoredFile| {
        file.name == name && revision.map_or(file.latest, |revision| file.revision == revision)
    };
    files.into_iter().find(fits).ok_or_else(|| {
        let missing = "no file of that name and revision is kept of the session";
        Failure::refused(ErrorKind::NotFound, missing).or_try("forklore restore SESSION --list")
    })
}

fn list(files: Vec<StoredFile>, output: &mut Output) -> Result<()> {
    let answer = SessionFiles { files: files.into_iter().map(|file| file.about).collect() };
    output.answer(&answer, |page| table(&answer.files, page))?;
    output.hint("forklore restore SESSION --all -o DIR", "write them all");
    Ok(())
}

fn table(files: &[SessionFile], page: &mut Page) {
    let mut table = Table::new(&[
        Column::new("FILE"),
        Column::new("SIZE").right(),
        Column::new("REVISION").right(),
        Column::new("READ FROM").gives_way(),
    ]);
    for file in files {
        let tone = if file.own { Tone::Strong } else { Tone::Plain };
        let size = if file.gone { "deleted".to_owned() } else { bytes(file.bytes).to_string() };
        table.row([
            Cell::new(if file.latest { tone } else { Tone::Dim }, &file.name),
            Cell::new(if file.gone { Tone::Warn } else { Tone::Plain }, size),
            Cell::new(Tone::Plain, file.revision.to_string()),
            Cell::new(Tone::Dim, &file.path),
        ]);
    }
    table.show(page);
}
