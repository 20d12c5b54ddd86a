//! A turn: from a prompt to the answer, over as many calls of the model and of tools as it takes.
//!
//! A turn gets a [`Context`](crate::context::Context) and a log. It knows neither the session nor
//! the kernel; sub-agents are made for it through a port ([`Children`]).

mod answer;
mod ask;
mod cap;
mod child;
mod children;
mod compact;
mod decide;
mod keep;
mod lease;
mod log;
mod new_event;
mod outcome;
mod plain;
mod run;
mod spent;
mod summarize;
mod tools;
mod vain;
mod view;
mod work;

pub(crate) use child::{Child, Children, Subagent};
pub use compact::Compacted;
pub(crate) use compact::compact;
pub(crate) use log::Log;
pub(crate) use new_event::{event, user_message};
pub use outcome::{Status, Turn};
pub(crate) use run::{Course, Run};
pub(crate) use summarize::summarize;
pub(crate) use view::View;
