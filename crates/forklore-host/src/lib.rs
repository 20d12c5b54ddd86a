//! What a conversation that forks can do, without a terminal.
//!
//! A [`Host`] holds the user's [configuration](config), the models and tools that it names, and a
//! [kernel](forklore_agent) over one store. A [`Conversation`] is in one session at a time; it
//! talks, forks, goes back, sums up, brings, and hands work to sub-agents. [`explore`] tries several
//! continuations at once. Every verb is an async function: it reads no input, prints nothing,
//! listens to no signal, and brings no runtime. A terminal, a server and a protocol are faces over
//! it.
//!
//! ```no_run
//! use std::path::Path;
//! use std::sync::Arc;
//!
//! use forklore_core::workspace::Workspace;
//! use forklore_engine::Engine;
//! use forklore_host::{BranchOptions, CancellationToken, Configured, Host, Start};
//!
//! # async fn example(engine: Engine) -> forklore_host::Result<()> {
//! let configured = Configured::read(Path::new("config.toml"))?;
//! let host = Arc::new(Host::new(engine, configured)?);
//! let start = Start::in_workspace(Workspace::new("/demo"));
//! let conversation = host.open_unattended(start).await?;
//!
//! let cancel = CancellationToken::new();
//! let turn = conversation.say("plan A or plan B?", &cancel).await?;
//! conversation.fork(BranchOptions::default()).await?;
//! conversation.say("let us take B", &cancel).await?;
//!
//! conversation.close().await;
//! host.close().await;
//! # Ok(())
//! # }
//! ```

mod allowed;
mod approvals;
mod attachment;
pub mod config;
mod conversation;
mod error;
pub mod explore;
mod headless;
mod host;
mod interrupt;
mod start;
pub mod text_file;

pub use approvals::{Approvals, PendingApproval};
pub use attachment::PendingAttachment;
pub use config::{ConfigError, Configured};
pub use conversation::{
    BranchOptions, Condition, Conversation, NumberedMessage, SummarizeBy, SummarizedFork,
};
pub use error::{Error, Result};
pub use forklore_mcp_client::Pattern;
pub use host::{Host, MakeModel};
pub use start::Start;
pub use tokio_util::sync::CancellationToken;
