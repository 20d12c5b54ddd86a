//! `anchor`: appends the heads of sessions to a file outside of the store.

mod file;

use std::path::PathBuf;

use forklore::api::Anchored;
use forklore_sanitize::shell::quoted;

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::{Output, Tone, count};
use crate::session_ref::SessionRef;

pub(super) use self::file::{Key, read};

const EXAMPLES: &str = "\
Each line of the file has the head of a session and a hash of all its events up to it, of what it \
inherits, and of its header. If somebody edits the store behind forklore's back, verify --anchors \
reports it. Keep the file where whoever can write to the store cannot: on another machine, or in a \
git repository that others pull. An anchor takes the store as it is, so verify before you anchor again.

With a key, each line is signed (HMAC-SHA-256), so that nobody without the key can make one. Who has \
the key can.

Examples:
  forklore anchor --to anchors.jsonl                    the last session
  forklore anchor --all --to anchors.jsonl              every session of the store
  forklore verify --anchors anchors.jsonl               what was edited since?
  forklore verify --anchors anchors.jsonl --exact       was anything written since?

  openssl rand -hex 32 > ~/anchor.key
  forklore anchor --all --to anchors.jsonl --key ~/anchor.key
  FORKLORE_ANCHOR_KEY=$(secret-tool lookup app forklore) forklore anchor --all --to anchors.jsonl";

/// Write the heads of sessions to a file, to notice edits later
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session [default: last; with --all, every session of the store]
    session: Option<String>,
    /// Append the lines to this file
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    #[command(flatten)]
    key: Key,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let session = match (args.session.as_deref(), app.globals().all) {
        (Some(_), true) => {
            return Err(Failure::invalid("name a session, or give --all, but not both"));
        }
        (None, true) => None,
        (session, false) => {
            let session = SessionRef::parse(session.unwrap_or("last"))?;
            Some(app.stored(&session, output)?.id)
        }
    };
    let key = args.key.read()?;
    let anchors = app.engine()?.anchors(session.as_ref(), key.as_ref())?;
    file::append(&args.to, &anchors)?;
    let path = args.to.display().to_string();
    let answer = Anchored { path, signed: key.is_some(), anchors };
    output.answer(&answer, |page| {
        let number = count(answer.anchors.len() as u64, "head");
        let signed = if answer.signed { ", signed" } else { "" };
        page.put(Tone::Good, "Anchored ");
        page.put(Tone::Plain, format!("{number} in {}{signed}.", answer.path)).end();
    })?;
    let verify = format!("forklore verify --anchors {}", quoted(&answer.path));
    output.hint(&verify, "compare the store with them");
    Ok(())
}
