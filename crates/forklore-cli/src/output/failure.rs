//! Errors: the envelope of SPEC 16, or one line and a hint.

use std::io::{self, Write};

use forklore::model::ErrorKind;
use serde::Serialize;
use serde_json::Value;

use super::{Output, Page, Tone};
use crate::failure::{Failure, Result};

#[derive(Serialize)]
struct Refusal<'a> {
    ok: bool,
    error: ErrorObject<'a>,
}

#[derive(Serialize)]
struct ErrorObject<'a> {
    kind: ErrorKind,
    message: &'a str,
    details: Value,
    next_actions: Vec<String>,
}

impl Output {
    /// Reports why a command was not carried out.
    ///
    /// # Errors
    /// When that cannot be written either.
    pub(crate) fn failure(&mut self, failure: &Failure) -> Result<()> {
        if matches!(failure, Failure::Answered(_) | Failure::Stopped(_)) {
            return self.flush();
        }
        let message = failure.to_string();
        if self.json {
            let error = ErrorObject {
                kind: failure.kind(),
                message: &message,
                details: failure.details(),
                next_actions: failure.next_actions(),
            };
            let text =
                serde_json::to_string(&Refusal { ok: false, error }).map_err(io::Error::from)?;
            self.json_line(&text)?;
            return self.flush();
        }
        self.flush()?;
        let mut page = Page::new(self.error_look);
        let (message, rest) = match failure.lines_to_write() {
            Some(lines) => (message.replace(lines, ""), lines),
            None => (message, ""),
        };
        page.put(Tone::Bad, "error: ").put(Tone::Plain, message.trim_end()).end();
        page.block(Tone::Plain, rest, 0, usize::MAX);
        if let Some(candidates) = failure.details().get("candidates").and_then(Value::as_array) {
            for id in candidates.iter().filter_map(Value::as_str) {
                page.put(Tone::Plain, "  ").put(Tone::Id, id).end();
            }
        }
        if self.verbose {
            for cause in failure.causes() {
                page.put(Tone::Dim, "  because: ").put(Tone::Plain, cause).end();
            }
        }
        if !self.quiet && self.hints {
            for action in failure.next_actions() {
                page.put(Tone::Dim, "  try: ").put(Tone::Strong, action).end();
            }
        }
        Ok(self.err.write_all(page.as_str().as_bytes())?)
    }
}
