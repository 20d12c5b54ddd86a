//! `export`: writes a session's conversation as one page to read, as plain JSON lines, or in the
//! format of an agent.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use forklore::api::{Export, ExportTo, Exported, ExportedFile, LeftOut};
use forklore::core::{EventType, SessionId};

use crate::agents;
use crate::app::App;
use crate::failure::Result;
use crate::new_file;
use crate::output::{Output, Page, Tone, count};
use crate::session_ref::SessionRef;

use super::arguments;

const PLAIN: &str = "plain";
/// The names of all export formats, the values of `--to`.
pub(super) const FORMS: [&str; 11] = [
    PLAIN,
    "html",
    "markdown",
    "pi",
    "claude",
    "codex",
    "gemini",
    "opencode",
    "amplifier",
    "ak-coder",
    "pixir",
];

const EXAMPLES: &str = "\
Examples:
  forklore export last --to html -o session.html    one page to show others
  forklore export @plan-b --to markdown --at turn:3
  forklore export last --to plain | head
  forklore export @plan-b --to plain -o plan-b.jsonl
  forklore export @plan-b --to claude -o 5a1d0c2e.jsonl
  forklore export last --to codex --at message:-3 > rollout.jsonl

A page of html or markdown has the tool calls with their results and changes, folded, and the
model's thinking. A page of html also has the images. It is one file, which runs no script and
requests nothing, whatever the session contains.
A session of the same agent keeps its records; another's goes through what the model would \
receive. What has no place in the form is counted. To place the file where the agent looks for it: \
forklore resume-in.";

/// Write a session's conversation as a page, or in another format
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session: an id, label or title, last, or a session file
    session: String,
    /// The format: html or markdown (one page to read), plain (JSON lines of role and content), or
    /// that of an agent: pi, claude, codex, gemini, opencode, amplifier, ak-coder, pixir
    #[arg(long, value_name = "DIALECT", value_parser = forms(), hide_possible_values = true)]
    to: String,
    /// Where to stop: turn:N, message:N, index:N, seq:N, event:ID, start, end [default: end]
    #[arg(long, value_name = "CUT", allow_hyphen_values = true)]
    at: Option<String>,
    /// Write to this new file [default: standard output]
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Replace the file if it is there
    #[arg(long, requires = "output")]
    force: bool,
}

impl Args {
    /// Returns the arguments with which `forklore export` writes a session into a new file.
    pub(super) fn into_file(session: &SessionId, to: String, file: PathBuf) -> Self {
        Self { session: session.to_string(), to, at: None, output: Some(file), force: false }
    }
}

fn forms() -> PossibleValuesParser {
    let pages = ["html", "markdown", PLAIN];
    PossibleValuesParser::new(pages.into_iter().chain(agents::to_export_to()))
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let session = SessionRef::parse(&args.session)?;
    let at = arguments::selector(args.at.as_deref())?;
    let header = app.session(&session, output)?;
    let request = Export {
        session_id: header.id.clone(),
        to: ExportTo { dialect: args.to.clone(), at, cwd: None },
        path: args.output.clone(),
        overwrite: args.force,
    };
    let engine = app.engine()?;
    let export = forklore::Export::new(engine, &header, &request.to)?;
    let Some(path) = &request.path else {
        export.write(&mut output.lines())?;
        return Ok(());
    };
    let exported = new_file::write(path, request.overwrite, |file| {
        let mut out = BufWriter::with_capacity(new_file::BUFFER, file);
        let exported = export.write(&mut out)?;
        out.flush().map_err(new_file::failed(path))?;
        Ok(exported)
    })?;
    let Exported { events, lossy } = exported;
    let answer = ExportedFile { path: path.clone(), events, lossy };
    output.answer(&answer, |page| {
        page.put(Tone::Good, "Wrote ").put(Tone::Plain, count(answer.events, "message"));
        page.put(Tone::Plain, " to ").put(Tone::Strong, path.display()).end();
        left_out(page, &answer.lossy);
    })
}

/// Shows how many records of each kind an export omitted, and why: the format cannot represent
/// them, or a summary replaces them.
pub(super) fn left_out(page: &mut Page, lossy: &[LeftOut]) {
    let lost: Vec<_> = lossy.iter().map(|lost| format!("{} {}", lost.count, lost.kind)).collect();
    if !lost.is_empty() {
        let is_message = |lost: &LeftOut| {
            lost.kind.parse::<EventType>().is_ok_and(|kind| kind.class().is_conversation())
        };
        let why = if lossy.iter().any(is_message) {
            "for which the form has no place, or which a summary replaces"
        } else {
            "for which the form has no place"
        };
        page.fact("left out", format!("{}, {why}", lost.join(", ")));
    }
}
