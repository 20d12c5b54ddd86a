//! `diff`: what each of two sessions has alone.

use forklore_api::{Record, SideStats};
use forklore_engine::Result as EngineResult;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::message::MessageOut;
use super::verb::Verb;
use crate::answer::{Fitting, LIST_CHARS, Noticed, Quoted};
use crate::refusal::Refusal;
use crate::scope::Access;
use crate::session::path;

pub(super) struct DiffTool;

/// What the messages of one side may take, and each of them.
const SIDE: usize = LIST_CHARS / 2 - 2_500;
const MESSAGE: usize = 1_000;
/// How many files of a side are listed.
const FILES: usize = 8;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The first session: an id, a part of an id, a label, a title, or last.
    a: String,
    /// The second session.
    b: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// The number of messages, from the beginning, that both sessions have. The message of this
    /// number is the first in which they differ: messages with from: N reads on in either session.
    shared_messages: u64,
    a: Side,
    b: Side,
}

/// What one session has alone.
#[derive(Debug, Serialize, JsonSchema)]
struct Side {
    session_id: String,
    label: String,
    messages: u64,
    turns: u64,
    tool_calls: u64,
    /// The files that its tool calls change.
    untrusted_files: Vec<Quoted>,
    /// The number of files that are not listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted_files: Option<usize>,
    /// Its first messages.
    first: Vec<MessageOut>,
    /// The number of its messages that are not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted_messages: Option<u64>,
}

impl Verb for DiffTool {
    type Input = Input;
    type Output = Noticed<Output>;
    const NAME: &'static str = "diff";
    const TITLE: &'static str = "Compare two sessions";
    const DESCRIPTION: &'static str = "Compare two sessions, such as a session and its fork: where \
        they part, and what each did alone. Use it to judge two attempts at the same task, or to \
        see what a fork did before you bring its result. Shows the first messages of each side.";

    fn run(access: &Access<'_>, input: Input) -> Result<Noticed<Output>, Refusal> {
        let (a, b) = (access.session(&input.a)?, access.session(&input.b)?);
        let stats = access.engine.diff_stats(&a.id, &b.id)?;
        let compared = access.engine.compare(&a.id, &b.id)?;
        Ok(Noticed::of(Output {
            shared_messages: compared.common,
            a: side(&stats.a, compared.only_a)?,
            b: side(&stats.b, compared.only_b)?,
        }))
    }
}

fn side(
    stats: &SideStats,
    records: impl Iterator<Item = EngineResult<Record>>,
) -> Result<Side, Refusal> {
    let mut first = Fitting::new(SIDE);
    for record in records {
        if !first.push(MessageOut::of(record?, 0, MESSAGE)) {
            break;
        }
    }
    let files: Vec<_> = stats.files.iter().take(FILES).map(|file| path(file)).collect();
    let (more, shown) = (stats.files.len().saturating_sub(FILES), first.len() as u64);
    let omitted = stats.messages.saturating_sub(shown);
    Ok(Side {
        session_id: stats.session_id.to_string(),
        label: stats.label.to_string(),
        messages: stats.messages,
        turns: stats.turns,
        tool_calls: stats.tool_calls,
        untrusted_files: files,
        omitted_files: (more > 0).then_some(more),
        first: first.into_items(),
        omitted_messages: (omitted > 0).then_some(omitted),
    })
}
