//! `export`: a session's conversation in another form.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use forklore::engine::Lost;
use forklore::model::ErrorKind;
use serde::Serialize;

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::{Output, Tone, count};
use crate::session_ref::SessionRef;

use super::new_file;

const EXAMPLES: &str = "\
Examples:
  forklore export last --to plain | head
  forklore export @plan-b --to plain -o plan-b.jsonl";

/// Write a session's conversation in another form
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session: an id or its end, last, @label, or a session file
    session: String,
    /// The form: plain is JSON lines of role and content
    #[arg(long, value_name = "DIALECT")]
    to: String,
    /// Into a new file [default: standard output]
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
}

#[derive(Serialize)]
struct Answer<'a> {
    path: &'a Path,
    events: u64,
    lossy: Vec<Lost>,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let session = SessionRef::parse(&args.session)?;
    if args.to != "plain" {
        let only = Failure::refused(ErrorKind::Unsupported, "the only form to export to is plain");
        return Err(only.or_try("forklore export SESSION --to plain"));
    }
    let header = app.session(&session, output)?;
    let engine = app.engine()?;
    let Some(path) = &args.output else {
        engine.export_plain(&header.id, &mut output.lines())?;
        return Ok(());
    };
    let exported = new_file::write(path, |file| {
        let mut out = BufWriter::new(file);
        let exported = engine.export_plain(&header.id, &mut out)?;
        out.flush().map_err(new_file::failed(path))?;
        Ok(exported)
    })?;
    let answer = Answer { path, events: exported.events, lossy: exported.lossy };
    output.answer(&answer, |page| {
        page.put(Tone::Good, "Wrote ").put(Tone::Plain, count(answer.events, "message"));
        page.put(Tone::Plain, " to ").put(Tone::Strong, path.display()).end();
        let lost: Vec<_> =
            answer.lossy.iter().map(|lost| format!("{} {}", lost.count, lost.kind)).collect();
        page.fact("left out", lost.join(", "));
    })
}
