//! Conversations whose sessions can fork, with the user's configured models and tools. Needs no
//! terminal.
//!
//! Use this crate to build a server, a protocol or a graphical front end. For a conversation at a
//! terminal, use `forklore-chat`, which is built on this crate. For an agent that does not use
//! forklore's configuration file, use `forklore-agent`.
//!
//! - A [`Host`] has the user's [configuration](config), the configured models and tools, and a
//!   [kernel](forklore_agent) on one store.
//! - A [`Conversation`] is in one session at a time. It can run turns, fork, rewind, summarize,
//!   record summaries of other branches, and delegate to sub-agents. [`Start`] names the session
//!   and the model with which a conversation begins.
//! - [`explore`] runs several continuations of a session concurrently.
//! - [`Approvals`] passes tool calls that need approval to the front end.
//!
//! ```
//! use std::path::Path;
//! use std::sync::Arc;
//!
//! use forklore_core::workspace::Workspace;
//! use forklore_engine::Engine;
//! use forklore_host::{BranchOptions, CancellationToken, Configured, Host, Start};
//! use forklore_store::memory::MemoryStore;
//! # use forklore_agent::model::{
//! #     AnswerStream, End, Model, ModelName, ModelResult, Request, StreamEvent,
//! # };
//! # use forklore_core::Message;
//! # use futures_util::future::BoxFuture;
//! # use futures_util::{StreamExt as _, stream};
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = &folder.path().join("config.toml");
//! # std::fs::write(path, "[models.small]\nprovider = 'openai'\nmodel = 'm'\n")?;
//! let engine = Engine::new(Arc::new(MemoryStore::default()));
//! // `Host::new` calls the configured models over HTTP. Here, a model repeats the prompt.
//! let host = Host::with_models(engine, Configured::read(path)?, Box::new(|_| Ok(echo())))?;
//! let start = Start::in_workspace(Workspace::new("/work/demo"));
//! let conversation = Arc::new(host).open_unattended(start).await?;
//!
//! let cancel = CancellationToken::new();
//! conversation.say("plan A or plan B?", &cancel).await?;
//! let forked = conversation.fork(BranchOptions::default()).await?;
//! let turn = conversation.say("let us take B", &cancel).await?;
//! assert_eq!(turn.text, "You said: let us take B");
//! assert_eq!(conversation.id(), forked.child_session_id);
//!
//! conversation.close().await;
//! conversation.host().close().await;
//! # Ok(())
//! # }
//! # struct Echo(ModelName);
//! # impl Model for Echo {
//! #     fn name(&self) -> &ModelName { &self.0 }
//! #     fn context_window(&self) -> Option<u64> { None }
//! #     fn body(&self, _: &Request) -> ModelResult<Vec<u8>> { Ok(Vec::new()) }
//! #     fn stream<'a>(
//! #         &'a self,
//! #         request: &'a Request,
//! #     ) -> BoxFuture<'a, ModelResult<AnswerStream<'a>>> {
//! #         let prompt = request.messages.last().map(Message::plain_text).unwrap_or_default();
//! #         let end = StreamEvent::End(End::default());
//! #         let pieces = [StreamEvent::Text(format!("You said: {prompt}")), end];
//! #         Box::pin(async move { Ok(stream::iter(pieces.map(Ok)).boxed()) })
//! #     }
//! # }
//! # fn echo() -> Arc<dyn Model> {
//! #     Arc::new(Echo(ModelName { provider: "example".into(), model: "echo".into() }))
//! # }
//! ```
//!
//! All operations are async functions that run on the caller's tokio runtime. They read no input,
//! print nothing, and handle no signals. The host starts no tool server before
//! [`Host::start_tools`].

mod allowed;
mod approvals;
mod attachment;
mod budget;
pub mod config;
mod conversation;
mod error;
pub mod explore;
mod files;
mod headless;
mod host;
mod interrupt;
mod process_group;
mod program;
mod start;
mod system_zone;
pub mod text_file;
mod unreachable;

pub use approvals::{Approvals, PendingApproval};
pub use attachment::PendingAttachment;
pub use config::{ConfigError, Configured, InvalidSetting, Setting};
pub use conversation::{
    BranchOptions, Condition, Conversation, Exchange, NumberedMessage, Question, SummarizeBy,
    SummarizedFork,
};
pub use error::{Error, Result};
pub use files::OpenFiles;
pub use forklore_api::{FilesRestored, NamedPath};
pub use forklore_mcp_client::Pattern;
pub use host::{Host, MakeModel};
pub use process_group::ProcessGroup;
pub use program::is_installed;
pub use start::Start;
pub use system_zone::{NoZoneFile, system_zone};
pub use tokio_util::sync::CancellationToken;
