//! A turn: from a prompt to the answer, over as many calls of the model and of tools as it takes.

mod answer;
mod ask;
mod cap;
mod children;
mod compact;
mod decide;
mod keep;
mod log;
mod new_event;
mod run;
mod spent;
mod summarize;
mod tools;
mod vain;
mod view;
mod work;

use std::any::Any;

use forklore_core::{Data, SessionId};
use serde::Serialize;

pub use compact::Compacted;
pub(crate) use compact::compact;
pub(crate) use log::Log;
pub(crate) use new_event::{event, user_message};
pub(crate) use run::{Course, Run};
pub use spent::Spent;
pub(crate) use summarize::summarize;
pub(crate) use view::View;
pub use view::cache_key;

/// What the model is told of a call that was interrupted.
const CANCELLED: &str = "Cancelled: the turn was interrupted.";

/// What a turn came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Turn {
    /// The session in which it ended.
    pub session_id: SessionId,
    /// The session in which it began, where the runtime lost that one to another on the way and
    /// went on in a fork (SPEC 9).
    pub moved_from: Option<SessionId>,
    /// How it ended.
    pub status: Status,
    /// What the model said last.
    pub text: String,
    /// How often the model answered.
    pub model_calls: u32,
    /// How many calls it made.
    pub tool_calls: u32,
    /// What it took.
    pub usage: Spent,
    /// The last log position.
    pub head_seq: i64,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The model had no more to say.
    Success,
    /// It was interrupted.
    Cancelled,
    /// It was cut short, and why.
    Incomplete(String),
}

impl Status {
    /// The word for it in notifications.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Cancelled => "cancelled",
            Self::Incomplete(_) => "incomplete",
        }
    }
}

/// What a panic said, where it said something.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no words".into())
}

/// What a tree of values can hold, as events and notifications are made of: half of a surrogate pair
/// is the replacement character, and what is nested too deep or has too large a number is a text.
pub(crate) fn plain(data: Data) -> Data {
    let holds = |data: &Data| data.read::<serde_json::Value>().is_ok();
    if holds(&data) {
        return data;
    }
    let readable = data.readable().into_owned();
    if holds(&readable) { readable } else { text_data(readable.get()) }
}

/// A JSON string.
pub(crate) fn text_data(text: &str) -> Data {
    Data::from_checked(serde_json::Value::from(text).to_string())
}
