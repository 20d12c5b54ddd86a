//! `blame`: finds the tool calls that name a file.

use std::path::Path;

use forklore::api::{Blame, BlameAnswer, Hit, Search};
use forklore::search::SearchIndex;

use forklore::core::ShortIds;

use crate::app::App;
use crate::failure::Result;
use crate::output::{Cell, Column, Output, Page, Table, Tone, age, count, since};

const EXAMPLES: &str = "\
A call counts whose arguments have this path, whether absolute or relative to the folder of its \
session, or a patch of it. Sessions of all folders are looked at. The commands of a shell are not \
understood: forklore search finds words in them.

Examples:
  forklore blame src/http.rs
  forklore blame src/http.rs --since 2w
  forklore blame /work/demo/Cargo.toml --json | jq -r '.hits[] | \"\\(.ts) \\(.tool)\"'";

/// Find the tool calls that name a file, the latest first
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The file, which need not exist any more
    file: String,
    /// Find only calls since a date or a time, or since 30m, 3h, 2d, 1w ago
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    since: Option<String>,
    /// How many calls to show at most; 0 means 10000
    #[arg(long, value_name = "N", default_value_t = Search::LIMIT)]
    limit: usize,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let folder = app.workspace()?;
    let path = Path::new(folder.as_str()).join(&args.file);
    let engine = app.engine()?;
    let now = engine.now();
    let request = Blame {
        since: args.since.as_deref().map(|text| since(text, now, output.zone())).transpose()?,
        limit: args.limit,
        ..Blame::of(path.to_string_lossy())
    };
    let progress = output.progress();
    let answer = SearchIndex::of(engine).blame_with(&request, &mut |read| {
        progress.bytes(read.bytes_done, read.bytes, "reading what is new");
    })?;
    drop(progress);
    let failure = super::damaged::failure(&answer.problems);
    output.answer_with(&answer, |page| show(page, &answer), failure.as_ref())?;
    suggest(&answer, args, output);
    super::damaged::tell(&answer.problems, output)
}

fn suggest(answer: &BlameAnswer, args: &Args, output: &mut Output) {
    let file = forklore_sanitize::shell::quoted(&args.file);
    if answer.hits.is_empty() {
        let name = Path::new(&args.file).file_name().unwrap_or_default().to_string_lossy();
        let words = forklore_sanitize::shell::quoted(&name);
        output.hint(&format!("forklore search {words} --all"), "the name in any text");
    }
    if let Some((hit, seq)) = answer.hits.first().and_then(|hit| Some((hit, hit.seq?))) {
        let replay = format!("forklore replay {} --up-to seq:{seq}", hit.session_id);
        output.hint(&replay, "the conversation up to the latest call");
    }
    if answer.more {
        let limit = 5 * args.limit.max(Search::LIMIT);
        output.hint(&format!("forklore blame {file} --limit {limit}"), "more calls");
    }
}

fn show(page: &mut Page, answer: &BlameAnswer) {
    if answer.hits.is_empty() {
        page.put(Tone::Plain, "No call names ").put(Tone::Strong, &answer.path);
        page.put(Tone::Plain, ".").end();
        return;
    }
    let look = page.look();
    let short = ShortIds::of(answer.hits.iter().map(|hit| &hit.session_id));
    let mut table = Table::new(&[
        Column::new("WHEN"),
        Column::new("TOOL"),
        Column::new("SESSION"),
        Column::new("LABEL"),
        Column::new("TURN").right(),
        Column::new("AT"),
        Column::new("AGENT").optional(),
        Column::new("ALSO IN").optional(),
        Column::new("TITLE").gives_way(),
    ]);
    for hit in &answer.hits {
        table.row([
            Cell::new(Tone::Dim, age(look, hit.ts)),
            Cell::new(Tone::Tool, hit.tool.as_deref().unwrap_or_default()),
            Cell::id(&short, &hit.session_id),
            Cell::new(Tone::Label, hit.label.as_str()),
            Cell::new(Tone::Plain, hit.turn.map_or_else(String::new, |turn| turn.to_string())),
            Cell::new(Tone::Plain, hit.seq.map_or_else(String::new, |seq| format!("seq:{seq}"))),
            Cell::new(Tone::Plain, hit.agent.as_str()),
            Cell::new(Tone::Dim, also(hit)),
            Cell::new(Tone::Plain, hit.title.as_deref().unwrap_or_default()),
        ]);
    }
    table.show(page);
}

/// Describes the other sessions whose history contains the call: the label of the only one, or the
/// number of several. Returns an empty string if there is none.
fn also(hit: &Hit) -> String {
    match (hit.branches.get(1), hit.branch_count) {
        (Some(branch), 2) => branch.label.to_string(),
        (Some(_), branches) => count(branches - 1, "branch"),
        (None, _) => String::new(),
    }
}
