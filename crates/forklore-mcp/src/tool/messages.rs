//! `messages`: the messages of a session, page by page.

use forklore_core::Header;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::message::{MESSAGE_CHARS, MessageOut};
use super::verb::Verb;
use crate::answer::{Fitting, LIST_CHARS, Noticed};
use crate::refusal::Refusal;
use crate::scope::Access;

pub(super) struct MessagesTool;

/// The largest number of messages on a page.
const MOST: u64 = 200;
/// How much of one message a page shows by default, and at most, in characters of JSON.
const SHOWN: usize = 2_000;
const MOST_SHOWN: usize = LIST_CHARS - MESSAGE_CHARS;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The session: an id, a part of an id, a label, a title, or last.
    session: String,
    /// Begin with the message of this number, from 0.
    #[serde(default)]
    from: Option<u64>,
    /// Show only the last N messages, instead of `from`.
    #[serde(default)]
    last: Option<u64>,
    /// How many messages to show, from 1 to 200. Default: 30.
    #[serde(default)]
    limit: Option<u64>,
    /// How many characters of each message to show, from 200 to 15000. Default: 2000.
    #[serde(default)]
    chars: Option<usize>,
    /// `next_cursor` of an earlier answer, or `more` of a message.
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    session_id: String,
    /// The number of messages of the session.
    total: u64,
    messages: Vec<MessageOut>,
    /// Pass this as `cursor` for the next page. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Verb for MessagesTool {
    type Input = Input;
    type Output = Noticed<Output>;
    const NAME: &'static str = "messages";
    const TITLE: &'static str = "Read a session";
    const DESCRIPTION: &'static str = "Read the messages of one earlier session, with tool calls \
        and results, page by page. Use it after search, list_sessions or overview has found the \
        session, to see exactly what was written: begin at the index of a hit (from: N), or read \
        the end (last: 10). Long messages are cut: `more` shows the rest.";

    fn run(access: &Access<'_>, input: Input) -> Result<Noticed<Output>, Refusal> {
        let header = access.session(&input.session)?;
        let (first, skip) = beginning(&input, &header)?;
        let limit = input.limit.unwrap_or(30).clamp(1, MOST);
        // Who asks for the rest of a message wants all that fits.
        let usual = if skip > 0 { MOST_SHOWN } else { SHOWN };
        let chars = input.chars.unwrap_or(usual).clamp(200, MOST_SHOWN);
        let total = header.counts.index;
        let end = first.saturating_add(limit).min(total);
        let mut page = Fitting::new(LIST_CHARS);
        let mut next = first;
        for record in access.engine.replay_part(&header.id, &(first..end))? {
            let record = record?;
            let index = record.index;
            let skip = if index == first { skip } else { 0 };
            // A message that does not fit as it should begins the next page.
            if !page.push(MessageOut::of(record, skip, chars)) {
                break;
            }
            next = index + 1;
            if page.left() < MESSAGE_CHARS {
                break;
            }
        }
        Ok(Noticed::of(Output {
            session_id: header.id.to_string(),
            total,
            messages: page.into_items(),
            next_cursor: (next < total).then(|| next.to_string()),
        }))
    }
}

/// Returns the number of the first message, and how many of its characters to skip.
fn beginning(input: &Input, header: &Header) -> Result<(u64, usize), Refusal> {
    let total = header.counts.index;
    if let Some(cursor) = &input.cursor {
        let (index, skip) = cursor.split_once('+').unwrap_or((cursor, "0"));
        let parsed = index.parse().ok().zip(skip.parse().ok());
        return parsed.ok_or_else(|| {
            Refusal::invalid(
                "the argument cursor is no cursor of messages",
                "pass next_cursor of an earlier answer, or more of a message",
            )
        });
    }
    Ok(match input.last {
        Some(last) => (total.saturating_sub(last), 0),
        None => (input.from.unwrap_or(0), 0),
    })
}
