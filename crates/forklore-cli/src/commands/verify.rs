//! `verify`: everything stored is read and checked.

use forklore::model::ErrorKind;

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::{Output, Tone, count};
use crate::session_ref::SessionRef;

const EXAMPLES: &str = "\
Examples:
  forklore verify
  forklore verify last
  forklore verify --json | jq '.problems[]'

The exit code is 6 when something is wrong.";

/// Read and check everything stored
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Only this session [default: the whole store]
    session: Option<String>,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let reference = args.session.as_deref().map(SessionRef::parse).transpose()?;
    let session = reference.map(|session| app.stored(&session)).transpose()?;
    let report = app.engine()?.verify(session.as_ref().map(|header| &header.id))?;
    output.answer(&report, |page| {
        for problem in &report.problems {
            page.put(Tone::Bad, problem.kind).put(Tone::Plain, "  ");
            if let Some(id) = &problem.session_id {
                page.put(Tone::Id, id).put(Tone::Plain, "  ");
            }
            if let Some(seq) = problem.seq {
                page.put(Tone::Dim, format!("seq {seq}  "));
            }
            page.put(Tone::Plain, &problem.message).end();
        }
        let read =
            format!("{}, {}", count(report.sessions, "session"), count(report.events, "event"));
        match report.problems.len() as u64 {
            0 => page.put(Tone::Good, "All is well: ").put(Tone::Plain, read).end(),
            number => page
                .put(Tone::Bad, count(number, "problem"))
                .put(Tone::Plain, format!(" in {read}"))
                .end(),
        };
    })?;
    if report.problems.is_empty() { Ok(()) } else { Err(Failure::Answered(ErrorKind::Corrupt)) }
}
