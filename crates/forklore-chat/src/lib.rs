//! The terminal front end of a conversation whose sessions can fork.
//!
//! [`Foreground`] runs the operations of a [host] for a program at a terminal: it owns the async
//! runtime, and signals interrupt the running operation. [`Chat`] is an interactive conversation:
//! the user types lines, and a line that begins with a slash is a command. Some commands show the
//! same output as a subcommand of the program; the program implements [`Views`] to print it.

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
