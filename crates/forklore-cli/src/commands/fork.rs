//! `fork`: forks a session at a cut.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use forklore::Engine;
use forklore::core::workspace::Workspace;
use forklore::core::{Header, Label, Selector, SessionId, SessionKind, Strategy, ToolCallPolicy};
use forklore::engine::{Fork, Forked, IdStyle, Summarize};
use forklore::store::port::Filter;
use forklore_sanitize::shell::quoted;

use crate::app::App;
use crate::choice::choice;
use crate::failure::{Failure, Result};
use crate::output::tree::{Twig, draw};
use crate::output::{Output, Page, Tone, count, cut};
use crate::session_ref::SessionRef;
use crate::{wiring, workspace};

use super::{arguments, interface, rewind};

/// The maximum number of ancestors that the small tree around a new branch shows. [`SIBLINGS`] is
/// the maximum number of siblings in that tree.
const ANCESTORS: usize = 4;
const SIBLINGS: usize = 6;

const EXAMPLES: &str = "\
Examples:
  forklore fork                             choose the session from a list
  forklore fork last                        at the end
  forklore fork last --at turn:2            behind the second turn
  forklore fork last --at message:-1 --label plan-b
  forklore fork last --at turn:2 --dry-run --json
  forklore fork ./session.jsonl --at turn:2 a session file of an agent
  forklore fork last --worktree             with a copy of the files, to try something else

A cut is start, end, seq:N, message:N, index:N, turn:N or event:ID. Negative numbers count \
from the end. The parent is never changed, and nothing is copied.";

/// Go on from any point of a session, on a branch of its own
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session: an id, label or title, last, or a session file [default: one that you choose
    /// from a list, at a terminal]
    session: Option<String>,
    /// Where to fork: turn:N, message:N, index:N, seq:N, event:ID, start, end [default: end]
    #[arg(long, value_name = "CUT", allow_hyphen_values = true)]
    at: Option<String>,
    /// The same as --at seq:N
    #[arg(long, value_name = "N", conflicts_with = "at", allow_hyphen_values = true)]
    to_seq: Option<i64>,
    /// The branch's id; repeating a fork with the same id makes no second branch
    #[arg(long)]
    id: Option<String>,
    /// The form of a generated id: a UUID, or fork-PARENT-MILLISECONDS
    #[arg(long, value_name = "STYLE", conflicts_with = "id", default_value = "uuid",
        value_parser = choice::<IdStyle>(&["uuid", "ak-coder"]))]
    id_style: IdStyle,
    /// The branch's label, unique in the family
    #[arg(long)]
    label: Option<String>,
    /// The branch's title, for display
    #[arg(long)]
    title: Option<String>,
    /// A branch inherits the history; a delegate inherits nothing
    #[arg(long, default_value = "branch", value_parser = choice::<SessionKind>(&["branch", "delegate"]))]
    kind: SessionKind,
    /// How the inherited history is stored: shared, or copied
    #[arg(long, default_value = "share_v1", value_parser = choice::<Strategy>(&["share_v1", "replay_v1"]))]
    strategy: Strategy,
    /// What happens to tool calls without a result at the cut
    #[arg(long, value_name = "POLICY", default_value = "complete",
        value_parser = choice::<ToolCallPolicy>(&["complete", "remove", "error", "verbatim"]))]
    tool_calls: ToolCallPolicy,
    /// Record a summary of the inherited history, made without a model or by the configured one
    #[arg(long, value_name = "BY", num_args = 0..=1, require_equals = true, default_missing_value = "deterministic")]
    summarize: Option<SummarizeBy>,
    /// On whose behalf the branch acts [default: as the parent]
    #[arg(long, value_name = "WHO")]
    principal: Option<String>,
    /// What the branch may do, separated by commas: some of what the parent may
    #[arg(long, value_name = "NAMES")]
    permissions: Option<String>,
    /// Metadata of your own: any JSON
    #[arg(long, value_name = "JSON")]
    metadata: Option<String>,
    /// The branch's folder [default: the parent's]
    #[arg(long, value_name = "DIR")]
    into_workspace: Option<PathBuf>,
    /// Give the branch a folder of its own with the files of the cut: a worktree of git, or a plain
    /// folder [default: PROJECT.worktrees/LABEL next to the session's folder]
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, conflicts_with = "into_workspace")]
    worktree: Option<Option<PathBuf>>,
    /// Bring the files of the session's folder to the state of the cut, as forklore rewind does
    #[arg(long = "in-place", requires = "at", conflicts_with_all = ["into_workspace", "worktree", "id", "kind",
        "strategy", "summarize", "metadata", "principal", "permissions", "title", "tool_calls", "to_seq"])]
    with_rewind: bool,
    /// Print what would be made, and the command that makes exactly that
    #[arg(long)]
    dry_run: bool,
}

/// Who writes a summary: forklore without a model, or the configured model.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum SummarizeBy {
    Deterministic,
    Model,
}

/// Returns the reason why no model wrote the summary, on one line.
pub(super) fn why_no_model(failure: &Failure) -> String {
    match failure.lines_to_write() {
        Some(_) => "no model is configured".to_owned(),
        None => failure.to_string(),
    }
}

/// If forklore wrote the summary without a model, because the model wrote none, prints a remark
/// with the reason.
pub(super) fn remark_fallback(summary: &Summarize, output: &mut Output) {
    if let Summarize::Fallback { why, .. } = summary {
        output.remark(&format!("summed up without a model: {why}"));
    }
}

/// Those arguments of a fork that are parsed before the store is opened, because opening may create
/// the store.
struct Options {
    at: Option<Selector>,
    id: Option<SessionId>,
    label: Option<Label>,
    into: Option<Workspace>,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let given = args.session.as_deref().map(SessionRef::parse).transpose()?;
    let options = Options {
        at: match args.to_seq {
            Some(seq) => Some(Selector::Seq(seq)),
            None => arguments::selector(args.at.as_deref())?,
        },
        id: arguments::parsed(args.id.as_deref(), "session id")?,
        label: arguments::parsed(args.label.as_deref(), "label")?,
        into: args.into_workspace.as_deref().map(|dir| workspace::of(Some(dir))).transpose()?,
    };
    let metadata = arguments::json("metadata", args.metadata.as_deref())?;
    let Some(session) = given.map_or_else(|| chosen(app, output), |given| Ok(Some(given)))? else {
        return Ok(());
    };
    let (parent, engine) = app.session_for(&session, args.dry_run, output)?;
    let by_model = matches!(args.summarize, Some(SummarizeBy::Model));
    let request = Fork {
        parent: parent.id.clone(),
        at: options.at,
        id: options.id,
        id_style: args.id_style,
        must_be_new: false,
        label: options.label,
        title: args.title.clone(),
        kind: args.kind,
        strategy: args.strategy,
        tool_calls: args.tool_calls,
        summarize: args.summarize.map(|by| match by {
            SummarizeBy::Deterministic => Summarize::Deterministic,
            SummarizeBy::Model => Summarize::fallback("nothing was asked"),
        }),
        principal: args.principal.clone(),
        permissions: args.permissions.as_deref().map(arguments::permissions),
        workspace: options.into,
        metadata,
        config: None,
        rewind: false,
        dry_run: args.dry_run,
    };
    if by_model && args.worktree.is_some() {
        let message = "a model writes no summary for a fork with a folder of its own";
        return Err(Failure::invalid(message).or_try("--summarize=deterministic"));
    }
    if args.with_rewind {
        return rewind::fork_and_rewind(&parent, request, app, output);
    }
    let mut forked = if let Some(folder) = &args.worktree {
        with_folder(&request, &parent, folder.as_deref(), &engine, app)?
    } else if by_model && !args.dry_run {
        // Of a branch that would be too deep, a conversation makes a copy. This verb refuses it,
        // with a summary or without.
        engine.fork(&Fork { dry_run: true, ..request.clone() })?;
        fork_with_summary(request.clone(), app, output)?
    } else {
        engine.fork(&request)?
    };
    forked.resume_command = Some(output.commands().resume(&forked.child_session_id));
    if forked.dry_run && !forked.existing {
        let named = named(&session, &parent, app);
        forked.apply = Some(output.commands().apply(
            &named,
            &request,
            &forked,
            args.worktree.as_ref().map(Option::as_deref),
        ));
    }
    answer(&forked, &parent, &engine, output)
}

/// Forks, and gives the fork a folder with the files of the cut.
fn with_folder(
    request: &Fork,
    parent: &Header,
    folder: Option<&Path>,
    engine: &Engine,
    app: &App,
) -> Result<Forked> {
    let files = app.files()?;
    if request.dry_run {
        let planned = engine.fork(request)?;
        let folder = files.plan_fork_into(parent, &planned, folder);
        return Ok(Forked { worktree: Some(folder), ..planned });
    }
    let (forked, made) = files.fork_into(engine, parent, request, folder)?;
    Ok(Forked { worktree: Some(made.folder), ..forked })
}

/// Returns the session that the user chooses from a list, or `None` if the user chose none.
fn chosen(app: &App, output: &mut Output) -> Result<Option<SessionRef>> {
    if !interface::can_choose(output) {
        let message = "fork needs a session: an id, label or title, last, or a session file";
        return Err(Failure::invalid(message).or_try("forklore fork last"));
    }
    let session = interface::choose(app, output)?;
    session.map(|session| SessionRef::parse(session.as_str())).transpose()
}

/// Returns the words that name the session to fork in a command. A dry run does not import a
/// session file, so the command then names the file.
fn named(session: &SessionRef, parent: &Header, app: &App) -> Vec<String> {
    let SessionRef::File(path) = session else { return vec![parent.id.to_string()] };
    let mut words = vec![quoted(&path.to_string_lossy())];
    if let Some(folder) = app.named_workspace() {
        words.extend(["--workspace".to_owned(), quoted(&folder.to_string_lossy())]);
    }
    words
}

/// Forks, and records a summary that the configured model writes. If the model is not available,
/// forklore writes the summary without a model.
fn fork_with_summary(request: Fork, app: &App, output: &mut Output) -> Result<Forked> {
    match wiring::foreground(app, None, wiring::Run::default(), false, output) {
        Ok(foreground) => {
            let forking = foreground.host().fork_with_summary(None, request);
            let (forked, summary) = foreground.block_on(forking)?;
            if let Some(summary) = &summary {
                remark_fallback(summary, output);
            }
            Ok(forked)
        }
        Err(failure) => {
            let summary = Summarize::fallback(why_no_model(&failure));
            let forked =
                app.engine()?.fork(&Fork { summarize: Some(summary.clone()), ..request })?;
            if forked.recorded {
                remark_fallback(&summary, output);
            }
            Ok(forked)
        }
    }
}

fn answer(forked: &Forked, parent: &Header, engine: &Engine, output: &mut Output) -> Result<()> {
    if output.is_json() {
        return output.answer(forked, |_| {});
    }
    if output.is_silent() {
        return output.page(|page| {
            page.put(Tone::Plain, &forked.child_session_id).end();
        });
    }
    let around = if forked.dry_run { None } else { Some(around(forked, parent, engine)?) };
    output.page(|page| {
        report(page, forked);
        if let Some(twigs) = &around {
            page.end();
            draw(page, twigs);
        }
    })?;
    if let Some(apply) = &forked.apply {
        output.hint(apply, "make exactly this fork");
        return Ok(());
    }
    let child = &forked.child_session_id;
    output.hints(&[
        (forked.resume_command.as_deref().unwrap_or_default(), "go on in the fork"),
        (&format!("forklore diff {} {child}", parent.id), "see what differs"),
    ]);
    Ok(())
}

fn report(page: &mut Page, forked: &Forked) {
    let begin = match (forked.dry_run, forked.existing) {
        (_, true) => "Was there already: ",
        (true, false) => "Would fork to ",
        (false, false) => "Forked to ",
    };
    let position = &forked.cut;
    page.put(Tone::Good, begin).put(Tone::Label, &forked.label).put(Tone::Plain, "  ");
    page.put(Tone::Id, &forked.child_session_id).end();
    let mut at = vec![cut(position), format!("index:{}", position.index)];
    at.extend(position.message.map(|message| format!("message:{message}")));
    at.extend(position.seq.map(|seq| format!("seq:{seq}")));
    at.dedup();
    page.fact("at", format!("{} of {}", at.join(" = "), forked.parent_session_id));
    if let Some(requested) = &forked.adjusted_from {
        page.put(Tone::Warn, format!("{:<11}from {}", "moved", cut(requested))).end();
    }
    let how = if forked.strategy == Strategy::ShareV1 { "shared" } else { "copied" };
    page.fact("inherits", format!("{}, {how}", count(forked.event_count, "event")));
    if forked.synthetic_results > 0 {
        let open = count(forked.synthetic_results as u64, "open tool call");
        page.fact("answered", format!("{open}, by a synthetic result each"));
    }
    if let Some(folder) = &forked.worktree {
        page.fact("folder", folder.display());
    }
    if forked.would_record_branch_summary {
        page.fact("summary", "recorded behind the history");
    }
}

/// Returns a small tree: the new branch, its nearest ancestors, and its most recently updated
/// siblings.
fn around(forked: &Forked, parent: &Header, engine: &Engine) -> Result<Vec<Twig>> {
    let mut above = Vec::new();
    let mut next = parent.parent_id.clone();
    while let Some(id) = next.take()
        && above.len() < ANCESTORS
    {
        // If an ancestor cannot be read, only shorten the tree: the fork already exists.
        let Ok(ancestor) = engine.store().header(&id) else {
            next = Some(id);
            break;
        };
        next.clone_from(&ancestor.parent_id);
        above.push(ancestor);
    }
    let twig = |header: &Header, depth| {
        let mut twig = Twig::of_header(header, depth);
        if engine.is_leased(header) {
            twig.note("running");
        }
        twig
    };
    let mut twigs = Vec::new();
    if next.is_some() {
        twigs.push(Twig::remark(0, "..."));
    }
    let chain = above.iter().rev().chain([parent]);
    for header in chain {
        twigs.push(twig(header, twigs.len()));
    }
    let filter = Filter { parent: Some(parent.id.clone()), ..Filter::default() };
    let found =
        engine.store().sessions(&filter, None, SIBLINGS + 1).map_err(forklore::Error::from)?;
    let more = found.sound.len() > SIBLINGS;
    let mut siblings: Vec<_> = found.sound.into_iter().take(SIBLINGS).collect();
    if !siblings.iter().any(|sibling| sibling.id == forked.child_session_id) {
        siblings.push(engine.show(&forked.child_session_id)?);
    }
    siblings.sort_by_key(|sibling| {
        (sibling.cut.as_ref().map_or(0, |cut| cut.inheritable), sibling.created, sibling.id.clone())
    });
    let depth = twigs.len();
    twigs.extend(siblings.iter().map(|sibling| twig(sibling, depth)));
    if more {
        twigs.push(Twig::remark(depth, "... and older ones"));
    }
    for twig in twigs.iter_mut().filter(|twig| twig.is(&forked.child_session_id)) {
        twig.note(if forked.recorded { "new" } else { "here" });
    }
    Ok(twigs)
}
