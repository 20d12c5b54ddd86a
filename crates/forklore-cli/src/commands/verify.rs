//! `verify`: reads and checks all stored data. `--repair` copies everything that is readable to a
//! new store, `--sample` checks some sessions only, and
//! `--anchors` compares the sessions with the heads that `anchor` wrote.

mod anchors;
mod sample;

use std::path::PathBuf;

use forklore::StoreUrl;
use forklore::api::{LostKind, Problem, Recovered, SampleSize};
use forklore::core::ErrorKind;

use super::anchor;
use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::{Output, Page, Tone, count};
use crate::session_ref::SessionRef;
use crate::store;

const EXAMPLES: &str = "\
Examples:
  forklore verify
  forklore verify last
  forklore verify --json | jq '.problems[]'
  forklore verify --sample 100                      100 sessions, chosen at random
  forklore verify --sample 5% --seed 42             the same sessions each time
  forklore verify --anchors anchors.jsonl           was it edited behind forklore's back?
  forklore verify --anchors anchors.jsonl --exact   was anything written since?
  forklore verify --repair saved.db                 into a new store, which --store then names
  forklore --store sqlite:old.db verify --repair files:saved

The exit code is 6 when something is wrong; with --repair, when something is lost. No repair brings \
the bytes of an attachment back: attach a file with the same bytes, to any session, and all that \
name it have it again.";

/// Read and check everything stored
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Check only this session [default: the whole store]
    session: Option<String>,
    /// Check only this many sessions, or this share of them, chosen at random
    #[arg(long, value_name = "N|PERCENT%", value_parser = sample::size, conflicts_with_all = ["session", "repair"])]
    sample: Option<SampleSize>,
    /// Choose the sessions of the sample by this number, which each sample shows [default: random]
    #[arg(long, value_name = "NUMBER", requires = "sample")]
    seed: Option<u64>,
    /// Save what can be read into a new store: a URL, or the path of an SQLite file
    #[arg(long, value_name = "OUT", conflicts_with = "session")]
    repair: Option<String>,
    /// Compare the sessions with the heads in this file, which anchor wrote
    #[arg(long, value_name = "FILE", conflicts_with_all = ["session", "repair", "sample"])]
    anchors: Option<PathBuf>,
    /// With --anchors: also report whatever differs from the newest anchors, honest work too
    #[arg(long, requires = "anchors")]
    exact: bool,
    #[command(flatten)]
    key: anchor::Key,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    if let Some(file) = &args.anchors {
        return anchors::run(file, &args.key, args.exact, app, output);
    }
    if args.key.is_named() {
        let message = "a key checks anchors: name their file with --anchors";
        return Err(Failure::invalid(message).or_try("forklore verify --anchors FILE --key FILE"));
    }
    if let Some(out) = &args.repair {
        return repair(out, app, output);
    }
    if let Some(size) = args.sample {
        return sample::run(size, args.seed, app, output);
    }
    let reference = args.session.as_deref().map(SessionRef::parse).transpose()?;
    let session = reference.map(|session| app.stored(&session, output)).transpose()?;
    let report = app.engine()?.verify(session.as_ref().map(|header| &header.id))?;
    let failure = failure(&report.problems);
    let people = |page: &mut Page| {
        show_problems(page, &report.problems);
        let read =
            format!("{}, {}", count(report.sessions, "session"), count(report.events, "event"));
        match report.problems.len() as u64 {
            0 => page.put(Tone::Good, "All is well: ").put(Tone::Plain, read).end(),
            number => page
                .put(Tone::Bad, count(number, "problem"))
                .put(Tone::Plain, format!(" in {read}"))
                .end(),
        };
    };
    output.answer_with(&report, people, failure.as_ref())?;
    end(&report.problems, output)
}

/// Returns the failure that the first problem is, if there are any.
fn failure(problems: &[Problem]) -> Option<Failure> {
    problems.first().map(|problem| {
        let found = count(problems.len() as u64, "problem");
        damaged(
            format!("the store has {found}: {}", problem.message),
            "forklore verify --repair OUT",
        )
    })
}

fn show_problems(page: &mut Page, problems: &[Problem]) {
    for problem in problems {
        page.put(Tone::Bad, problem.kind).put(Tone::Plain, "  ");
        if let Some(id) = &problem.session_id {
            page.put(Tone::Id, id).put(Tone::Plain, "  ");
        }
        if let Some(seq) = problem.seq {
            page.put(Tone::Dim, format!("seq {seq}  "));
        }
        page.put(Tone::Plain, &problem.message).end();
    }
}

/// Ends a check whose answer is written: suggests what to do about the problems.
fn end(problems: &[Problem], output: &mut Output) -> Result<()> {
    if problems.is_empty() {
        return Ok(());
    }
    let (attached, stored): (Vec<_>, Vec<_>) =
        problems.iter().partition(|problem| problem.attachment.is_some());
    let mut next = Vec::new();
    if !attached.is_empty() {
        next.push((
            "forklore attach SESSION FILE",
            "a file with those bytes, to any session, mends it",
        ));
    }
    if !stored.is_empty() {
        next.push(("forklore verify --repair OUT", "save what can be read into a new store"));
    }
    output.hints(&next);
    Err(Failure::Answered(ErrorKind::Corrupt))
}

fn repair(out: &str, app: &App, output: &mut Output) -> Result<()> {
    let url = forklore::url_of(out);
    let parsed: StoreUrl = url.parse()?;
    let Some(path) = parsed.path() else {
        return Err(Failure::invalid("--repair saves into a store that lasts: a path or a URL"));
    };
    if path.symlink_metadata().is_ok() {
        let there =
            format!("there is something at {}; nothing is ever overwritten", path.display());
        let refused = Failure::refused(ErrorKind::AlreadyExists, there);
        return Err(refused.or_try("name a place where nothing is yet"));
    }
    let from = app.engine()?;
    let recovery = from.recover(&store::open(Some(&url))?)?;
    let answer = Recovered { store: url.clone(), recovery };
    let lost = answer.recovery.lost.first().map(|lost| {
        let pieces = count(answer.recovery.lost.len() as u64, "piece");
        damaged(
            format!("{pieces} lost: {}", lost.reason),
            &format!("forklore --store {url} verify"),
        )
    });
    output.answer_with(&answer, |page| show(page, &answer), lost.as_ref())?;
    output.hint(&format!("forklore --store {url} verify"), "check what was saved");
    lost.map_or(Ok(()), |lost| Err(Failure::Answered(lost.kind())))
}

fn damaged(message: String, next: &str) -> Failure {
    Failure::refused(ErrorKind::Corrupt, message).or_try(next)
}

fn show(page: &mut Page, answer: &Recovered) {
    let Recovered { store: url, recovery } = answer;
    for lost in &recovery.lost {
        let what = match lost.what {
            LostKind::Header => "header",
            LostKind::Event => "event",
            LostKind::Data => "data",
            LostKind::Source => "file",
            LostKind::Attachment => "attachment",
        };
        page.put(Tone::Bad, format!("lost {what}")).put(Tone::Plain, "  ");
        if let Some(id) = &lost.session_id {
            page.put(Tone::Id, id).put(Tone::Plain, "  ");
        }
        if let Some(seq) = lost.seq {
            page.put(Tone::Dim, format!("seq {seq}  "));
        }
        page.put(Tone::Plain, &lost.reason).end();
    }
    let attachments = match recovery.attachments {
        0 => String::new(),
        number => format!(", {}", count(number, "attachment")),
    };
    let saved = format!(
        "{}, {}, {}{attachments}",
        count(recovery.sessions, "session"),
        count(recovery.events, "event"),
        count(recovery.sources, "imported file"),
    );
    page.put(Tone::Good, "Saved ").put(Tone::Plain, format!("{saved} into {url}")).end();
    match recovery.lost.len() as u64 {
        0 => page.put(Tone::Good, "Nothing is lost.").end(),
        number => page.put(Tone::Bad, format!("{} lost.", count(number, "piece"))).end(),
    };
}
