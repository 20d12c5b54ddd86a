//! The beginning of a file, as dialects look at it to recognise their own.

use serde::Deserialize;

use crate::lenient::{Object, Said, Text};

const LINES: usize = 200;

/// The fields by which the agents' records can be told apart.
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
    pub(crate) content: Said<Nothing>,
    pub(crate) tool_calls: Said<Nothing>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ProbedMessage<'a> {
    #[serde(borrow)]
    pub(crate) role: Text<'a>,
    pub(crate) content: Said<Nothing>,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Nothing {}

/// Whether one of the first lines is a record by which `is_own` recognises the agent.
pub(crate) fn any_line(head: &[u8], is_own: impl Fn(&Probe<'_>) -> bool) -> bool {
    any_text(head, |text| serde_json::from_str(text).is_ok_and(|probe| is_own(&probe)))
}

/// Whether one of the first lines holds an object that `is_own` recognises. Lines that are
/// damaged, or cut off by the end of `head`, say nothing.
pub(crate) fn any_text(head: &[u8], is_own: impl Fn(&str) -> bool) -> bool {
    head.split(|byte| *byte == b'\n').take(LINES).any(|line| {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_matches(['\u{feff}', '\0', ' ', '\t', '\r']);
        text.starts_with('{') && is_own(text)
    })
}

/// The first byte that says anything.
pub(crate) fn first_byte(head: &[u8]) -> Option<u8> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    head.iter().copied().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0))
}

/// Whether the first line is longer than `head` and holds all of `marks`.
pub(crate) fn long_line_holds(head: &[u8], marks: &[&str]) -> bool {
    memchr::memchr(b'\n', head).is_none()
        && marks.iter().all(|mark| memchr::memmem::find(head, mark.as_bytes()).is_some())
}
