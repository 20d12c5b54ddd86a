//! `bring`: writes a summary of a branch into another session.

use std::ops::Range;
use std::path::PathBuf;

use forklore::api::FilesBrought;
use forklore::core::{ErrorKind, Header, SessionId};
use forklore::engine::{Bring, Brought, Error as EngineError, Summarize};

use super::fork::{SummarizeBy, remark_fallback, why_no_model};
use super::rewind::restored;
use super::snapshot::{folder_of, paths};
use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::{Output, Page, Tone, count};
use crate::session_ref::SessionRef;
use crate::wiring;

/// The maximum number of lines that `forklore bring` shows of the summarized branch's last answer.
const LINES: usize = 6;

const EXAMPLES: &str = "\
Examples:
  forklore bring @try-winnow --into @main
  forklore bring @try-winnow --into last --summarize=model
  forklore bring 1f2e3d4c --into 9a8b7c6d --dry-run --json
  forklore bring @try-2 --into last --files     its files too, by a three-way merge

The session is told what the branch did since the two parted, with its last answer, in one event \
behind its head: nothing that was said is changed, and the branch stays. To bring the same again \
is harmless; when the branch has gone on, only what is new is told. A model that sums it up is \
told that part alone.\n\n\
--files merges the files of the branch's worktree, as they are now, into the folder: what changed \
since the worktree began, or since it was brought last. Without a worktree, it is the branch's last \
snapshot, and what changed since the last one that both share. Your own changes stay; a file that both changed in different ways gets git's conflict markers, and the \
exit code is that of a conflict. forklore undo takes the merge of the files back.";

/// Record in a session what another branch came to
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The branch: an id, label or title, or last
    branch: String,
    /// The session that gets the summary: an id, label or title, or last
    #[arg(long, value_name = "SESSION")]
    into: String,
    /// Who writes the summary: forklore without a model, or the configured model
    #[arg(long, value_name = "BY", num_args = 0..=1, require_equals = true,
        default_value = "deterministic", default_missing_value = "deterministic")]
    summarize: SummarizeBy,
    /// Merge the branch's files into the folder too
    #[arg(long)]
    files: bool,
    /// The folder that gets the files [default: the session's]
    #[arg(long, value_name = "DIR", requires = "files")]
    folder: Option<PathBuf>,
    /// Print what would be recorded; write nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let (branch, into) = (SessionRef::parse(&args.branch)?, SessionRef::parse(&args.into)?);
    let (branch, into) = (app.stored(&branch, output)?, app.stored(&into, output)?);
    let plain = Bring::new(branch.id.clone(), into.id.clone());
    // Plan first: the plan determines the part of the branch that the model has to summarize.
    let planned = plan(app, args, &Bring { dry_run: args.dry_run, ..plain.clone() })?;
    let part = planned.from_index..planned.to_index;
    let request = if planned.existing || part.is_empty() {
        plain
    } else {
        let summarize = match args.summarize {
            SummarizeBy::Deterministic => Summarize::Deterministic,
            SummarizeBy::Model if args.dry_run => Summarize::fallback("nothing was asked"),
            SummarizeBy::Model => summed_up(app, &branch.id, part.clone(), output)?,
        };
        Bring { summarize, part: Some(part.clone()), ..plain }
    };
    // A merge of files that is refused must not leave the conversation brought.
    let merge = match args.files {
        true => {
            let folder = folder_of(&into, args.folder.as_deref())?;
            Some(app.files()?.plan_to_bring(app.engine()?, &branch, &into, &folder)?)
        }
        false => None,
    };
    let mut brought = match part.is_empty() {
        true => planned,
        false => app.engine()?.bring(&Bring { dry_run: args.dry_run, ..request })?,
    };
    brought.files = match merge {
        Some(merge) if args.dry_run => Some(app.files()?.show_planned(&merge)?),
        Some(merge) => Some(app.files()?.bring_planned(merge)?),
        None => None,
    };
    show(&brought, &into, output)
}

/// Returns what would be recorded. A branch without messages of its own may still have files.
fn plan(app: &App, args: &Args, request: &Bring) -> Result<Brought> {
    match app.engine()?.bring(&Bring { dry_run: true, ..request.clone() }) {
        Err(EngineError::Invalid { reason: "nothing_to_bring", .. }) if args.files => {
            Ok(app.engine()?.bring_nothing(request)?)
        }
        planned => Ok(planned?),
    }
}

/// Shows the result of `forklore bring`, which records a summary of a branch in the session `into`.
pub(super) fn show(brought: &Brought, into: &Header, output: &mut Output) -> Result<()> {
    let from = output.id(&brought.from_session_id);
    let (reported, from) = ((into.label.as_str(), output.id(&brought.session_id)), from.as_str());
    let conflict = brought.files.as_ref().and_then(conflict);
    let people = |page: &mut Page| report(page, brought, &reported, from);
    output.answer_with(brought, people, conflict.as_ref())?;
    if let Some(number) = brought.files.as_ref().and_then(|files| files.number) {
        output.hint(&format!("forklore undo {number}"), "take the files back");
    }
    if let Some(conflict) = conflict {
        return Err(Failure::Answered(conflict.kind()));
    }
    if brought.recorded {
        output.hints(&[
            (&format!("forklore inspect {}", into.id), "see what its model is told"),
            (&format!("forklore diff {} {}", into.id, brought.from_session_id), "see what differs"),
        ]);
    }
    Ok(())
}

/// Returns the error of a merge of files with conflicts, if there are any.
fn conflict(files: &FilesBrought) -> Option<Failure> {
    let paths = match files.conflicts.as_slice() {
        [] => return None,
        [path] => path.path.clone(),
        paths => count(paths.len() as u64, "file"),
    };
    let message = format!("{paths} changed here and in the branch in different ways");
    Some(Failure::refused(ErrorKind::Conflict, message))
}

/// Returns the configured model's summary of a part of a branch. If the model wrote none, returns
/// the reason, and the engine later writes the summary without a model. `part` is a range of
/// conversation indexes.
fn summed_up(
    app: &App,
    branch: &SessionId,
    part: Range<u64>,
    output: &mut Output,
) -> Result<Summarize> {
    let summarised = wiring::foreground(app, None, wiring::Run::default(), false, output).and_then(
        |foreground| Ok(foreground.block_on(foreground.host().summarize_part(None, branch, part))?),
    );
    let summary = match summarised {
        Err(failure) if failure.kind() == ErrorKind::Interrupted => return Err(failure),
        Err(failure) => Summarize::fallback(why_no_model(&failure)),
        Ok(summary) => summary,
    };
    remark_fallback(&summary, output);
    Ok(summary)
}

/// Prints what `forklore bring` recorded, or would record in a dry run: a branch's summary in
/// another session. `into` and `id` are the label and the id of that other session; `from` is the
/// id of the branch.
fn report(page: &mut Page, brought: &Brought, (into, id): &(&str, String), from: &str) {
    let is_silent = brought.from_index == brought.to_index;
    let begin = match (brought.dry_run, brought.existing) {
        _ if is_silent => "No new messages of ",
        (_, true) => "Was brought already: ",
        (true, false) => "Would bring ",
        (false, false) => "Brought ",
    };
    page.put(Tone::Good, begin).put(Tone::Label, &brought.label);
    page.put(Tone::Plain, " into ").put(Tone::Label, into).put(Tone::Plain, "  ");
    page.put(Tone::Id, id).end();
    if !is_silent {
        recorded(page, brought, from);
    }
    if let Some(files) = &brought.files {
        let does = if brought.dry_run { "would merge" } else { "merged" };
        page.fact("files", format!("{does} into {}", files.folder.display()));
        restored(page, &files.restored);
        paths(page, "conflict", &files.conflicts);
    }
}

/// Prints which part of the branch the summary is about, and where it is.
fn recorded(page: &mut Page, brought: &Brought, from: &str) {
    let messages = count(brought.to_index - brought.from_index, "message");
    let range = format!("index:{} to index:{}", brought.from_index, brought.to_index);
    page.fact("tells", format!("{messages}, {range} of {from}"));
    page.fact("at", format!("seq:{}, {}", brought.seq, brought.strategy));
    if let Some(answer) = &brought.answer {
        page.put(Tone::Dim, "its last answer").end();
        page.block(Tone::Plain, answer, 2, LINES);
    }
}
