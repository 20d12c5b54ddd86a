//! `search`: finds words in sessions. `blame` answers with the same hits.

use forklore_api::{Hit, HitKind, Search};
use forklore_core::Role;
use forklore_search::SearchIndex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::verb::Verb;
use crate::answer::{Fitting, LIST_CHARS, Noticed, Quoted};
use crate::refusal::Refusal;
use crate::scope::Access;
use crate::session::{path, title};
use crate::since::since;

pub(super) struct SearchTool;

/// The largest number of hits on a page.
const MOST: usize = 50;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Words that a message contains, all of them. "two words" is a phrase, begin* the beginning of
    /// a word, regex:PATTERN a regular expression.
    query: String,
    /// Look into the sessions of this folder, an absolute path. Default: the folder in which the
    /// agent works.
    #[serde(default)]
    workspace: Option<String>,
    /// Look into the sessions of every folder.
    #[serde(default)]
    everywhere: bool,
    /// Find only records of this agent, such as claude, codex, gemini or forklore.
    #[serde(default)]
    agent: Option<String>,
    /// Find only messages of this role.
    #[serde(default)]
    role: Option<Role>,
    /// Find only calls and results of this tool.
    #[serde(default)]
    tool: Option<String>,
    /// Look only into this part of messages and sessions.
    #[serde(default)]
    kind: Option<HitKind>,
    /// Find only what was written since a date, a time, or 3h, 2d, 1w ago.
    #[serde(default)]
    since: Option<String>,
    /// How many hits to return, from 1 to 50. Default: 15.
    #[serde(default)]
    limit: Option<usize>,
    /// `next_cursor` of an earlier answer: return the hits after it.
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// The hits, the best first. What a session shares with its forks is one hit.
    hits: Vec<HitOut>,
    /// Pass this as `cursor` for the next page. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// What to try if there are no hits.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
    /// The number of sessions that cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    damaged: Option<usize>,
}

/// A place in a session that contains what was looked for.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct HitOut {
    session_id: String,
    label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    untrusted_title: Option<Quoted>,
    untrusted_workspace: Quoted,
    agent: String,
    /// text, reasoning, call, result, title, label or summary.
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    untrusted_tool: Option<Quoted>,
    ts: String,
    /// The number of the message: messages with from: N shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<u64>,
    /// The position in the log: fork with at: seq:N continues after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    untrusted_snippet: Quoted,
    /// The number of sessions whose history has this hit.
    in_sessions: u64,
}

impl HitOut {
    pub(super) fn of(hit: &Hit) -> Self {
        let dots = |cut: bool| if cut { "..." } else { "" };
        let snippet = &hit.snippet;
        let (before, after) = (dots(snippet.cut_before), dots(snippet.cut_after));
        Self {
            session_id: hit.session_id.to_string(),
            label: hit.label.to_string(),
            untrusted_title: hit.title.as_deref().map(title),
            untrusted_workspace: path(hit.workspace.as_str()),
            agent: hit.agent.clone(),
            kind: hit.kind.as_str(),
            role: hit.role.map(Role::as_str),
            untrusted_tool: hit.tool.as_deref().map(title),
            ts: hit.ts.to_string(),
            index: hit.index,
            seq: hit.seq,
            untrusted_snippet: Quoted::line(&format!("{before}{}{after}", snippet.text), 600),
            in_sessions: hit.branch_count,
        }
    }
}

impl Verb for SearchTool {
    type Input = Input;
    type Output = Noticed<Output>;
    const NAME: &'static str = "search";
    const TITLE: &'static str = "Search earlier sessions";
    const DESCRIPTION: &'static str = "Search the full text of earlier agent sessions: messages, \
        tool calls, results, titles. Use it before you solve a problem that may have been solved \
        before, when the user says \"as we did\", \"again\", \"like last time\", when an error \
        message looks familiar, or to learn why something was decided. Returns short snippets; \
        read around a hit with messages.";

    fn run(access: &Access<'_>, input: Input) -> Result<Noticed<Output>, Refusal> {
        let engine = access.engine;
        let since = input.since.as_deref().map(|text| since(text, engine.now())).transpose()?;
        let workspace = access.folder(input.workspace.as_deref(), input.everywhere);
        let narrow = workspace.is_some();
        let request = Search {
            workspace,
            agent: input.agent,
            role: input.role,
            tool: input.tool,
            kind: input.kind,
            since,
            limit: input.limit.unwrap_or(15).clamp(1, MOST),
            after: input.cursor,
            ..Search::of(input.query)
        };
        let answer = SearchIndex::of(engine).search(&request)?;
        let (hits, all) = fitting(&answer.hits);
        // A cursor of a search is the number of hits before the page.
        let skipped = || request.after.as_deref().and_then(|after| after.parse().ok()).unwrap_or(0);
        let cut = (!all).then(|| usize::to_string(&(skipped() + hits.len())));
        let hint = (hits.is_empty() && request.after.is_none()).then_some(match narrow {
            true => "nothing in this folder: pass everywhere: true, or fewer words",
            false => "nothing in any folder: try fewer or other words",
        });
        let damaged = Some(answer.problems.len()).filter(|count| *count > 0);
        Ok(Noticed::of(Output { hits, next_cursor: cut.or(answer.next), hint, damaged }))
    }
}

/// Returns the hits that fit in an answer, and whether these are all.
pub(super) fn fitting(hits: &[Hit]) -> (Vec<HitOut>, bool) {
    let mut page = Fitting::new(LIST_CHARS);
    let all = hits.iter().all(|hit| page.push(HitOut::of(hit)));
    (page.into_items(), all)
}
