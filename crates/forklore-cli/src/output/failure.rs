//! Prints errors: as the JSON error object (docs/semantics.md, Errors), or as a message with hints
//! for users.

use std::io::{self, Write};

use forklore::api::{ErrorObject, Refusal};
use forklore_sanitize::terminal;
use serde::Serialize;
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use super::{Output, Page, Tone};
use crate::failure::{Failure, Result};

/// The maximum number of characters of an input line that an error shows on each side of the
/// invalid column.
const AROUND: usize = 48;

impl Output {
    /// Reports why a command failed.
    ///
    /// # Errors
    /// When the report cannot be written.
    pub(crate) fn failure(&mut self, failure: &Failure) -> Result<()> {
        if matches!(failure, Failure::Answered(_) | Failure::Stopped(_)) {
            return self.flush();
        }
        let message = failure.to_string();
        // If the answer could not be written to standard output, report this error on standard
        // error.
        if self.json && !matches!(failure, Failure::Answer(_)) {
            let refusal = Refusal { ok: false, error: self.error_object(failure) };
            let text = serde_json::to_string(&refusal).map_err(io::Error::from)?;
            self.json_line(&text)?;
            return self.flush();
        }
        // Report the error even if the answer cannot be flushed.
        let _ = self.flush();
        let mut page = Page::new(self.error_look);
        let (message, rest) = match failure.lines_to_write() {
            Some(lines) => (message.replace(lines, ""), lines),
            None => (message, ""),
        };
        page.put(Tone::Bad, "error: ").rest_of_line(
            Tone::Plain,
            message.trim_end(),
            "error: ".len(),
        );
        page.block(Tone::Plain, rest, 0, usize::MAX);
        excerpt(&mut page, &failure.details());
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
        if !self.silent && self.hints {
            for action in self.typed_actions(failure) {
                page.put(Tone::Dim, "  try: ").put(Tone::Strong, action).end();
            }
        }
        Ok(self.err.write_all(page.as_str().as_bytes())?)
    }
}

impl Output {
    /// Prints the answer of a command that succeeded only in part, and returns an error with the
    /// reason. With `--json`, the answer also has the reason in its field `error`, and `ok` is
    /// `false`.
    ///
    /// # Errors
    /// Always an error: the reason, or the error of writing the answer.
    pub(crate) fn partly<T: Serialize>(
        &mut self,
        answer: &T,
        people: impl FnOnce(&mut Page),
        failure: Failure,
    ) -> Result<()> {
        self.answer_with(answer, people, Some(&failure))?;
        Err(if self.json { Failure::Answered(failure.kind()) } else { failure })
    }

    pub(super) fn error_object(&self, failure: &Failure) -> ErrorObject {
        ErrorObject {
            kind: failure.kind(),
            message: failure.to_string(),
            details: failure.facts(),
            next_actions: self.typed_actions(failure),
        }
    }

    /// Returns the suggestions for a failure. Adds `--store` to commands where necessary.
    fn typed_actions(&self, failure: &Failure) -> Vec<String> {
        let actions = failure.next_actions();
        actions.iter().map(|action| self.commands.typed(action)).collect()
    }
}

/// Shows the invalid line of the input, with a mark below the invalid column. Does nothing unless
/// `details` has the fields `text` and `column`.
fn excerpt(page: &mut Page, details: &Value) {
    let column = details.get("column").and_then(Value::as_u64);
    let (Some(text), Some(column)) = (details.get("text").and_then(Value::as_str), column) else {
        return;
    };
    let before = usize::try_from(column).unwrap_or(1).saturating_sub(1);
    let end = text.char_indices().nth(before).map_or(text.len(), |(end, _)| end);
    let (before, behind) = text.split_at(end);
    // Of a long line, show only the text around the column.
    let left = before.chars().rev().take(AROUND).collect::<Vec<_>>();
    let left: String = left.into_iter().rev().collect();
    let right: String = behind.chars().take(AROUND).collect();
    page.put(Tone::Plain, "  ").put(Tone::Plain, &left).put(Tone::Plain, &right).end();
    let width = terminal::line(&left).width();
    page.put(Tone::Plain, " ".repeat(2 + width)).put(Tone::Bad, "^").end();
}
