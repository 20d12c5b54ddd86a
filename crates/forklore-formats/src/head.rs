//! Detects a file's format from the first lines of the file.

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

use crate::lenient::{MessageContent, Object, Text};

const LINES: usize = 200;

/// The fields of a line that show which agent wrote the line.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Probe<'a> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Text<'a>,
    /// The field `kind`. In Pi's files from version 4 on, it states what a line is, and `type`
    /// states what the entry in the line is.
    #[serde(borrow, rename = "kind")]
    pub(crate) form: Text<'a>,
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
    #[serde(borrow, rename = "parentSessionId")]
    pub(crate) parent_session_id: Text<'a>,
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

/// Whether a JSON field exists. It also exists if its value is `null`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Present(pub(crate) bool);

impl<'de> Deserialize<'de> for Present {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(input).map(|_| Self(true))
    }
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Nothing {}

/// Checks whether one of the file's first 200 lines is a JSON object that `is_own` accepts. `head`
/// is the beginning of the file.
pub(crate) fn any_line(head: &[u8], is_own: impl Fn(&Probe<'_>) -> bool) -> bool {
    any_text(head, |text| serde_json::from_str(text).is_ok_and(|probe| is_own(&probe)))
}

/// Counts of an agent's records among the first lines of a file. They decide whether the agent
/// wrote the file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recognised {
    /// Number of lines that have the form of the agent's records.
    pub(crate) own: usize,
    /// Number of messages that the agent's format can read.
    pub(crate) readable: usize,
    /// Number of messages that resemble the agent's messages but that its format cannot read.
    pub(crate) unreadable: usize,
}

impl Recognised {
    /// Checks by the counts whether the agent wrote the file. There must be a record of the agent.
    /// There must also be a readable message, or no unreadable one.
    pub(crate) fn is_own(self) -> bool {
        self.own > 0 && (self.readable > 0 || self.unreadable == 0)
    }
}

/// The kind of a line in a file, as the format of one agent sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineOf {
    /// A message in the form in which the agent writes messages.
    Message,
    /// A record of the agent, but not a message.
    Record,
    /// A message that resembles the agent's messages but that its format cannot read.
    Unreadable,
    /// A line that is no record of the agent. It may be a record of another agent.
    Other,
}

/// Counts the kinds of lines among the first 200 lines of a file. `line_of` returns the kind of a
/// line. `head` is the beginning of the file.
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

/// Checks whether `is_own` accepts one of the file's first 200 lines. Skips lines that do not begin
/// with `{`. `is_own` must reject damaged lines, because the last line of `head`, the file's first
/// bytes, may be incomplete.
pub(crate) fn any_text(head: &[u8], is_own: impl Fn(&str) -> bool) -> bool {
    objects(head).any(|text| is_own(&text))
}

/// Returns the lines that begin with `{` among the first 200 lines of `head`. Removes the white
/// space around each line.
fn objects(head: &[u8]) -> impl Iterator<Item = String> {
    head.split(|byte| *byte == b'\n').take(LINES).filter_map(|line| {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_matches(['\u{feff}', '\0', ' ', '\t', '\r']);
        text.starts_with('{').then(|| text.to_owned())
    })
}

/// Returns the first byte that is not white space, a zero byte or part of a byte order mark.
pub(crate) fn first_byte(head: &[u8]) -> Option<u8> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    head.iter().copied().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0))
}

/// Checks whether `head`, the beginning of a file, has no line feed and contains all the texts in
/// `marks`.
pub(crate) fn long_line_holds(head: &[u8], marks: &[&str]) -> bool {
    memchr::memchr(b'\n', head).is_none()
        && marks.iter().all(|mark| memchr::memmem::find(head, mark.as_bytes()).is_some())
}
