//! The first lines of a file, by which a format recognises its own files.

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

use crate::lenient::{MessageContent, Object, Text};

const LINES: usize = 200;

/// The fields that distinguish the records of agents.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Probe<'a> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Text<'a>,
    #[serde(borrow)]
    pub(crate) record_type: Text<'a>,
    #[serde(borrow)]
    pub(crate) role: Text<'a>,
    #[serde(borrow)]
    pub(crate) id: Text<'a>,
    #[serde(borrow)]
    pub(crate) uuid: Text<'a>,
    #[serde(borrow)]
    pub(crate) timestamp: Text<'a>,
    #[serde(borrow, rename = "sessionId")]
    pub(crate) session_id: Text<'a>,
    #[serde(borrow, rename = "projectHash")]
    pub(crate) project_hash: Text<'a>,
    #[serde(borrow, rename = "leafUuid")]
    pub(crate) leaf_uuid: Text<'a>,
    #[serde(borrow, rename = "messageId")]
    pub(crate) message_id: Text<'a>,
    #[serde(borrow)]
    pub(crate) message: Object<ProbedMessage<'a>>,
    pub(crate) content: MessageContent<Nothing>,
    pub(crate) tool_calls: MessageContent<Nothing>,
    #[serde(rename = "systemPayload")]
    pub(crate) system_payload: Present,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ProbedMessage<'a> {
    #[serde(borrow)]
    pub(crate) role: Text<'a>,
    pub(crate) content: MessageContent<Nothing>,
    pub(crate) parts: Present,
    pub(crate) timestamp: Present,
}

/// Whether a field is there, whatever its value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Present(pub(crate) bool);

impl<'de> Deserialize<'de> for Present {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(input).map(|_| Self(true))
    }
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Nothing {}

/// Whether `is_own` recognises one of the first lines.
pub(crate) fn any_line(head: &[u8], is_own: impl Fn(&Probe<'_>) -> bool) -> bool {
    any_text(head, |text| serde_json::from_str(text).is_ok_and(|probe| is_own(&probe)))
}

/// How many of the first lines are the agent's records, and whether their messages can be read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recognised {
    /// Lines that look like the agent's records.
    pub(crate) own: usize,
    /// Messages that it can read.
    pub(crate) readable: usize,
    /// Messages in another agent's form.
    pub(crate) unreadable: usize,
}

impl Recognised {
    /// Whether the file is the agent's. A file none of whose messages can be read is not.
    pub(crate) fn is_own(self) -> bool {
        self.own > 0 && (self.readable > 0 || self.unreadable == 0)
    }
}

/// What one line is to an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineOf {
    /// A message of the agent.
    Message,
    /// Another record of the agent.
    Record,
    /// A message that looks like the agent's, but that it cannot read.
    Unreadable,
    /// Nothing of the agent.
    Other,
}

/// Counts what the first lines are to an agent.
pub(crate) fn recognise(head: &[u8], line_of: impl Fn(&Probe<'_>) -> LineOf) -> Recognised {
    let mut found = Recognised::default();
    for text in objects(head) {
        let Ok(probe) = serde_json::from_str(&text) else { continue };
        match line_of(&probe) {
            LineOf::Message => {
                found.own += 1;
                found.readable += 1;
            }
            LineOf::Record => found.own += 1,
            LineOf::Unreadable => found.unreadable += 1,
            LineOf::Other => {}
        }
    }
    found
}

/// Whether `is_own` recognises the text of one of the first lines. Lines that are damaged or cut off
/// by the end of `head` do not count.
pub(crate) fn any_text(head: &[u8], is_own: impl Fn(&str) -> bool) -> bool {
    objects(head).any(|text| is_own(&text))
}

/// The first lines that begin like an object.
fn objects(head: &[u8]) -> impl Iterator<Item = String> {
    head.split(|byte| *byte == b'\n').take(LINES).filter_map(|line| {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_matches(['\u{feff}', '\0', ' ', '\t', '\r']);
        text.starts_with('{').then(|| text.to_owned())
    })
}

/// Returns the first byte that is not blank.
pub(crate) fn first_byte(head: &[u8]) -> Option<u8> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    head.iter().copied().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0))
}

/// Whether the first line is longer than `head` and contains all of `marks`.
pub(crate) fn long_line_holds(head: &[u8], marks: &[&str]) -> bool {
    memchr::memchr(b'\n', head).is_none()
        && marks.iter().all(|mark| memchr::memmem::find(head, mark.as_bytes()).is_some())
}
