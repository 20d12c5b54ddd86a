//! `restore`: the file an imported session was read from, byte for byte.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::app::App;
use crate::failure::Result;
use crate::output::{Output, Tone, bytes};
use crate::session_ref::SessionRef;

use super::new_file;

const EXAMPLES: &str = "\
Examples:
  forklore restore last -o again.jsonl
  forklore restore last | cmp - original.jsonl";

/// Write the file that a session was imported from, byte for byte
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A session of the file: an id or its end, last, @label
    session: String,
    /// Into a new file [default: standard output]
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
}

#[derive(Serialize)]
struct Answer<'a> {
    path: &'a Path,
    bytes: u64,
    source: String,
    revision: u64,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let header = app.stored(&SessionRef::parse(&args.session)?)?;
    let engine = app.engine()?;
    let Some(path) = &args.output else {
        engine.restore(&header.id, &mut output.lines())?;
        return Ok(());
    };
    let restored = new_file::write(path, |file| {
        let mut out = BufWriter::new(file);
        let restored = engine.restore(&header.id, &mut out)?;
        out.flush().map_err(new_file::failed(path))?;
        Ok(restored)
    })?;
    let answer =
        Answer { path, bytes: restored.bytes, source: restored.path, revision: restored.revision };
    output.answer(&answer, |page| {
        page.put(Tone::Good, "Wrote ").put(Tone::Plain, bytes(answer.bytes));
        page.put(Tone::Plain, " to ").put(Tone::Strong, path.display()).end();
        page.fact("read from", &answer.source);
    })
}
