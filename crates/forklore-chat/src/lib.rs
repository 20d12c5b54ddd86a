//! The terminal of a conversation that forks.
//!
//! [`Foreground`] runs the verbs of a [host] for a program at a terminal: on a
//! runtime of its own, interrupted by signals. [`Chat`] is a conversation in which a person types
//! lines; the commands of the conversation begin with a slash. What a verb of the program prints,
//! the program prints for a command too ([`Views`]).

mod chat;
mod command;
mod error;
mod foreground;
pub mod input;
pub mod markdown;
pub mod screen;
mod signals;
mod views;

pub use chat::Chat;
pub use command::ExploreOptions;
pub use error::{Error, Result};
pub use foreground::{Explored, Foreground, HeadlessTurn};
pub use forklore_host as host;
pub use signals::Stop;
pub use views::{ShowRow, View, Views};
