//! Assembles tool calls from the fragments in which a provider sends them, within size limits.

use forklore_agent::answer_limits::{ARGUMENTS_BYTES, CALLS, NAME_BYTES, TooMuch};
use forklore_agent::tool::ToolCall;
use forklore_core::Data;

use super::error::ResponseError;

/// Appends `more` to `so_far`. Returns the error `what` if the result would exceed `most` bytes.
pub(super) fn append_bounded(
    so_far: &mut String,
    more: &str,
    most: usize,
    what: TooMuch,
) -> Result<(), ResponseError> {
    if so_far.len().saturating_add(more.len()) > most {
        return Err(what.into());
    }
    so_far.push_str(more);
    Ok(())
}

/// Checks that a response with this number of tool calls may have one more.
pub(super) fn check_call_count(calls: usize) -> Result<(), ResponseError> {
    if calls < CALLS { Ok(()) } else { Err(TooMuch::Calls.into()) }
}

/// A tool call whose fields arrive in fragments.
#[derive(Debug, Default)]
pub(super) struct PendingCall {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
}

impl PendingCall {
    pub(super) fn add_name(&mut self, more: &str) -> Result<(), ResponseError> {
        append_bounded(&mut self.name, more, NAME_BYTES, TooMuch::Name)
    }

    /// Appends a fragment to the arguments of the call. Updates `total`, the number of argument
    /// bytes of all calls in the response.
    pub(super) fn add_arguments(
        &mut self,
        more: &str,
        total: &mut usize,
    ) -> Result<(), ResponseError> {
        *total = total.saturating_add(more.len());
        if *total > ARGUMENTS_BYTES {
            return Err(TooMuch::Arguments.into());
        }
        self.arguments.push_str(more);
        Ok(())
    }

    /// Returns the complete call. Arguments that are not JSON become a JSON string.
    pub(super) fn finish(self) -> Result<ToolCall, ResponseError> {
        let text = self.arguments.trim();
        let arguments = if text.is_empty() {
            Data::from_checked("{}")
        } else {
            Data::parse(text).or_else(|_| Data::of(text))?
        };
        Ok(ToolCall { id: self.id, name: self.name, arguments })
    }

    /// Checks whether the arguments are not valid JSON, as in a truncated response.
    pub(super) fn is_truncated(&self) -> bool {
        !self.arguments.trim().is_empty() && Data::parse(self.arguments.trim()).is_err()
    }
}
