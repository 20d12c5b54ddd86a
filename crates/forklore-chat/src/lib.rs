//! A conversation that forks.
//!
//! What people type and see when they talk to an agent of the [kernel](forklore_agent), and the
//! configuration that says which models and tools there are. The program `forklore` shows it to
//! people; the verbs of that program are at hand as commands that begin with a slash.

mod allowed;
mod approve;
mod attach;
mod chat;
mod command;
pub mod config;
mod error;
pub mod explore;
pub mod input;
mod interrupts;
pub mod markdown;
mod named;
mod once;
pub mod screen;
mod supplies;
pub mod text_file;
mod turn;

pub use attach::Waiting;
pub use chat::{Chat, Program, Start};
pub use config::{ConfigError, Configured};
pub use error::{Error, Result};
pub use forklore_mcp_client::Pattern;
pub use interrupts::Stop;
pub use once::Once;
pub use supplies::{MakeModel, Supplies};
