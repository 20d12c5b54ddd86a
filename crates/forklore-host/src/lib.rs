//! Conversations that fork, without a terminal.
//!
//! A [`Host`] has the user's [configuration](config), the models and tools that it names, and a
//! [kernel](forklore_agent) on one store. A [`Conversation`] is in one session at a time; it can
//! run turns, fork, rewind, summarize, bring branches, and delegate to sub-agents. [`explore`]
//! tries several continuations concurrently. All operations are async functions: they read no
//! input, print nothing, handle no signals, and need the caller's runtime. A terminal, a server or
//! a protocol can be built on them.
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
