//! A turn: from a prompt to the answer, with as many model calls and tool calls as needed.
//!
//! A turn has access to a [`Context`](crate::context::Context) and a log, but not to the session or
//! the kernel. It creates sub-agents through a port ([`SubagentFactory`]).

mod answer;
mod attach_result;
mod authorize;
mod call_model;
mod call_usage;
mod caller;
mod carry_out;
mod compact;
mod create_subagents;
mod execute_calls;
mod lease;
mod log;
mod new_event;
mod outcome;
mod readable_json;
mod run;
mod stuck_loop;
mod subagent;
mod summarize;
mod trace_model_call;
mod truncate;
mod view;
mod within;

pub use compact::Compacted;
pub(crate) use compact::compact;
pub(crate) use log::Log;
pub(crate) use new_event::{event, user_message};
pub use outcome::{Status, Turn};
pub(crate) use run::{Course, Run};
pub(crate) use subagent::{Subagent, SubagentFactory, SubagentSession};
pub(crate) use summarize::summarize;
pub(crate) use view::View;
pub(crate) use within::is_within;
