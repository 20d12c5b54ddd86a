//! `search`: finds words in the sessions of a folder.

use std::collections::BTreeMap;

use clap::builder::PossibleValuesParser;
use forklore::api::{Hit, HitKind, Search, SearchAnswer};
use forklore::core::{Role, SessionId, ShortIds};
use forklore::search::SearchIndex;
use forklore_sanitize::shell::quoted;

use crate::agents;
use crate::app::App;
use crate::choice::choice;
use crate::failure::{Failure, Result};
use crate::output::{Output, Page, Tone, age, count, since};

const EXAMPLES: &str = "\
A hit contains all words. '\"two words\"' is a phrase, parse* the beginning of a word, and regex: \
begins a regular expression that extends to the end. What a session shares with its forks is one \
hit. The first search reads all sessions; later ones read what is new.

Examples:
  forklore search retry backoff
  forklore search '\"connection reset\"' --role tool --since 2w
  forklore search 'migrat*' --agent claude --all
  forklore search 'regex:E0[0-9]{3}' --kind result
  forklore search parser --json | jq -r '.hits[] | \"\\(.session_id) \\(.seq)\"'";

/// Find words in messages, tool calls, results, titles and labels
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What to find: words, \"a phrase\", begin*, regex:PATTERN
    #[arg(required = true)]
    words: Vec<String>,
    /// Find only records of this agent, such as claude, codex or forklore
    #[arg(long, value_name = "AGENT", value_parser = writers())]
    agent: Option<String>,
    /// Find only messages of this role
    #[arg(long, value_parser = ["system", "user", "assistant", "tool"])]
    role: Option<String>,
    /// Find only calls and results of this tool
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,
    /// Look only into this part of messages and sessions
    #[arg(long, value_parser = choice::<HitKind>(&[
        "text", "reasoning", "call", "result", "title", "label", "summary",
    ]))]
    kind: Option<HitKind>,
    /// Find only what was written since a date or a time, or since 30m, 3h, 2d, 1w ago
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    since: Option<String>,
    /// How many hits to show at most; 0 means 10000
    #[arg(long, value_name = "N", default_value_t = Search::LIMIT)]
    limit: usize,
    /// Show the hits after those of an earlier answer: the value `next` of that answer
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
}

impl Args {
    /// Returns the arguments with which `forklore search` finds words.
    pub(super) fn of(words: &str) -> Self {
        Self {
            words: vec![words.to_owned()],
            agent: None,
            role: None,
            tool: None,
            kind: None,
            since: None,
            limit: Search::LIMIT,
            after: None,
        }
    }
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let workspace = app.scope()?.workspace;
    let everywhere = workspace.is_none();
    let engine = app.engine()?;
    let now = engine.now();
    let request = Search {
        query: args.words.join(" "),
        workspace,
        agent: args.agent.clone(),
        role: args.role.as_deref().and_then(role),
        tool: args.tool.clone(),
        kind: args.kind,
        since: args.since.as_deref().map(|text| since(text, now, output.zone())).transpose()?,
        limit: args.limit,
        after: args.after.clone(),
    };
    let progress = output.progress();
    let answer = SearchIndex::of(engine).search_with(&request, &mut |read| {
        progress.bytes(read.bytes_done, read.bytes, "reading what is new");
    });
    drop(progress);
    let answer = answer.map_err(|error| match Failure::from(error) {
        Failure::Engine(forklore::Error::Invalid { message, .. }) => {
            Failure::invalid(message).or_try("forklore search --help")
        }
        failure => failure,
    })?;
    let failure = super::damaged::failure(&answer.problems);
    let people = |page: &mut Page| show(page, &answer, everywhere);
    output.answer_with(&answer, people, failure.as_ref())?;
    suggest(&answer, &request, output);
    super::damaged::tell(&answer.problems, output)
}

/// Returns a parser that accepts the names of the agents whose records a store can have.
fn writers() -> PossibleValuesParser {
    PossibleValuesParser::new(agents::to_import_from().chain(["forklore"]))
}

fn role(name: &str) -> Option<Role> {
    match name {
        "system" => Some(Role::System),
        "user" => Some(Role::User),
        "assistant" => Some(Role::Assistant),
        _ => Some(Role::Tool),
    }
}

/// Suggests what to do with the hits, or where else to look.
fn suggest(answer: &SearchAnswer, request: &Search, output: &mut Output) {
    let words = quoted(&request.query);
    let everywhere = request.workspace.is_none();
    let all = if everywhere { " --all" } else { "" };
    if answer.hits.is_empty() && !everywhere {
        output.hint(&format!("forklore search {words} --all"), "in the sessions of every folder");
    }
    let hit = answer.hits.iter().find_map(|hit| Some((&hit.session_id, hit.seq?)));
    if let Some((session, seq)) = hit {
        let fork = format!("forklore fork {session} --at seq:{seq}");
        output.hint(&fork, "another continuation from the first hit");
    }
    if let Some(next) = &answer.next {
        let options = options(request);
        output.hint(&format!("forklore search {words}{all}{options} --after {next}"), "more hits");
    }
}

/// Returns the filters and the limit of the request as command-line options. The caller adds the
/// words, `--all` and `--after`.
fn options(request: &Search) -> String {
    let role = request.role.map(|role| role.as_str().to_owned());
    let limit = (request.limit != Search::LIMIT).then(|| request.limit.to_string());
    let options = [
        ("agent", request.agent.clone()),
        ("role", role),
        ("tool", request.tool.clone()),
        ("kind", request.kind.map(|kind| kind.as_str().to_owned())),
        ("since", request.since.map(|since| since.to_string())),
        ("limit", limit),
    ];
    let given = options.into_iter().filter_map(|(name, value)| Some((name, value?)));
    given.map(|(name, value)| format!(" --{name} {}", quoted(&value))).collect()
}

/// Shows the hits, grouped by session. The session with the best hit comes first.
fn show(page: &mut Page, answer: &SearchAnswer, everywhere: bool) {
    let hits = &answer.hits;
    if hits.is_empty() {
        let scope = if everywhere { "the store" } else { "this folder" };
        page.put(Tone::Plain, format!("Nothing found in {scope}.")).end();
        return;
    }
    let short = ShortIds::of(hits.iter().map(|hit| &hit.session_id));
    let mut sessions: Vec<&SessionId> = Vec::new();
    let mut by_session: BTreeMap<&SessionId, Vec<&Hit>> = BTreeMap::new();
    for hit in hits {
        let of_session = by_session.entry(&hit.session_id).or_default();
        if of_session.is_empty() {
            sessions.push(&hit.session_id);
        }
        of_session.push(hit);
    }
    for (number, session) in sessions.into_iter().enumerate() {
        if number > 0 {
            page.end();
        }
        let hits = by_session.remove(session).unwrap_or_default();
        if let Some(first) = hits.first() {
            heading(page, first, short.get(session), everywhere);
        }
        hits.iter().for_each(|hit| line(page, hit, short.get(session)));
    }
}

fn heading(page: &mut Page, hit: &Hit, session: &str, everywhere: bool) {
    page.put(Tone::Id, session).put(Tone::Plain, "  ").put(Tone::Label, hit.label.as_str());
    if let Some(title) = hit.title.as_deref().filter(|_| hit.kind != HitKind::Title) {
        page.put(Tone::Dim, "  ").put(Tone::Dim, title);
    }
    if everywhere {
        page.put(Tone::Dim, "  ").put(Tone::Dim, hit.workspace.as_str());
    }
    page.end();
}

fn line(page: &mut Page, hit: &Hit, session: &str) {
    let (tone, role) = match hit.role {
        Some(Role::System) => (Tone::Dim, "system"),
        Some(Role::User) => (Tone::User, "user"),
        Some(Role::Assistant) => (Tone::Assistant, "assistant"),
        Some(Role::Tool) => (Tone::Tool, "tool"),
        None => (Tone::Dim, hit.kind.as_str()),
    };
    page.put(Tone::Plain, "  ").put(tone, role);
    if let Some(tool) = &hit.tool {
        page.put(Tone::Tool, format!(" {tool}"));
    }
    let look = page.look();
    page.put(Tone::Dim, format!("  {}", age(look, hit.ts)));
    let others: Vec<_> = hit.branches.iter().skip(1).map(|branch| branch.label.as_str()).collect();
    if !others.is_empty() {
        let named = others.len().min(NAMED);
        let names = others.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
        page.put(Tone::Dim, "  also in ").put(Tone::Label, names);
        let more = hit.branch_count.saturating_sub(1 + named as u64);
        if more > 0 {
            page.put(Tone::Dim, format!(" and {}", count(more, "other branch")));
        }
    }
    if let Some(original) = &hit.copy_of {
        page.put(Tone::Dim, format!("  copied from {original}"));
    }
    page.end();
    page.put(Tone::Plain, "    ");
    snippet(page, hit);
    page.end();
    if let Some(seq) = hit.seq {
        page.put(Tone::Dim, format!("    forklore replay {session} --up-to seq:{seq}")).end();
    }
}

/// The largest number of branches that a line names.
const NAMED: usize = 3;

fn snippet(page: &mut Page, hit: &Hit) {
    let snippet = &hit.snippet;
    let dots = |page: &mut Page, is_cut: bool| {
        if is_cut {
            page.put(Tone::Dim, "...");
        }
    };
    let piece = |from: usize, to: usize| -> String {
        snippet.text.chars().skip(from).take(to.saturating_sub(from)).collect()
    };
    dots(page, snippet.cut_before);
    let mut at = 0;
    for range in &snippet.highlights {
        page.put(Tone::Plain, piece(at, range.start))
            .put(Tone::Found, piece(range.start, range.end));
        at = range.end;
    }
    page.put(Tone::Plain, piece(at, usize::MAX));
    dots(page, snippet.cut_after);
}
