//! `list_sessions`: the sessions of a folder, the most recent first.

use forklore_api::ListRequest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::verb::Verb;
use crate::answer::{Fitting, LIST_CHARS, Noticed};
use crate::refusal::Refusal;
use crate::scope::Access;
use crate::session::SessionLine;
use crate::since::since;

pub(super) struct ListSessions;

/// The largest number of sessions on a page.
const MOST: usize = 50;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Input {
    /// List the sessions of this folder, an absolute path. Default: the folder in which the agent
    /// works.
    workspace: Option<String>,
    /// List the sessions of every folder.
    everywhere: bool,
    /// List only sessions written to since a date, a time, or 3h, 2d, 1w ago.
    since: Option<String>,
    /// How many sessions to list, from 1 to 50. Default: 20.
    limit: Option<usize>,
    /// `next_cursor` of an earlier answer: list the sessions after it.
    cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    sessions: Vec<SessionLine>,
    /// Pass this as `cursor` for the next page. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// The number of sessions that cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    damaged: Option<usize>,
}

impl Verb for ListSessions {
    type Input = Input;
    type Output = Noticed<Output>;
    const NAME: &'static str = "list_sessions";
    const TITLE: &'static str = "List earlier sessions";
    const DESCRIPTION: &'static str = "List earlier agent sessions, the most recent first, with \
        their titles. Use it when the user refers to what was done before without a word to search \
        for (\"yesterday's session\", \"where did we stop\"), or at the start of a task to see \
        whether someone worked on it before. To find sessions by their content, use search.";

    fn run(access: &Access<'_>, input: Input) -> Result<Noticed<Output>, Refusal> {
        let engine = access.engine;
        let since = input.since.as_deref().map(|text| since(text, engine.now())).transpose()?;
        let mut request = ListRequest {
            workspace: access.folder(input.workspace.as_deref(), input.everywhere),
            since,
            limit: input.limit.unwrap_or(20).clamp(1, MOST),
            after: input.cursor,
            ..ListRequest::default()
        };
        let mut listing = engine.list(&request)?;
        let mut fitting = Fitting::new(LIST_CHARS);
        let fit = listing.sessions.iter();
        let fit = fit.take_while(|header| fitting.push(SessionLine::of(engine, header))).count();
        if fit < listing.sessions.len() {
            // The cursor of the shorter page comes from the engine, like any other.
            request.limit = fit;
            listing = engine.list(&request)?;
        }
        Ok(Noticed::of(Output {
            sessions: fitting.into_items(),
            next_cursor: listing.next,
            damaged: Some(listing.problems.len()).filter(|count| *count > 0),
        }))
    }
}
