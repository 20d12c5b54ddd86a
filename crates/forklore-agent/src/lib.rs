//! The kernel of an agent whose sessions can fork. It runs the turns of sessions with any model and
//! any tools.
//!
//! Use this crate to build your own agent in Rust. To only store and fork sessions that another
//! program runs, use `forklore`. For a conversation with the user's configured models and tools,
//! use `forklore-host`.
//!
//! - A [`Kernel`] is what the sessions of one process share: the engine over a store, hooks and
//!   sinks.
//! - An [`AgentSession`] is a session that can run turns, fork and delegate. A turn appends each
//!   answer and each tool result to the log as soon as it is complete. If the process dies, another
//!   process can therefore open the session and continue it.
//! - A [`Turn`] is the result of one turn.
//! - A [`SessionConfig`] is the configuration of a session: its [`Model`](model::Model),
//!   [`Tools`](tool::Tools), [`Policy`](approve::Policy), [`Approve`](approve::Approve) and
//!   [`Settings`].
//! - [`notify`] reports what happened. A [`hook`] can change or deny an operation before it
//!   happens.
//!
//! ```
//! use std::sync::Arc;
//!
//! use forklore_agent::{Kernel, NewSession, SessionConfig};
//! use forklore_core::workspace::Workspace;
//! use forklore_engine::{Engine, Fork};
//! use forklore_store::memory::MemoryStore;
//! # use forklore_agent::model::{
//! #     AnswerStream, End, Model, ModelName, ModelResult, Request, StreamEvent,
//! # };
//! # use forklore_core::Message;
//! # use futures_util::future::BoxFuture;
//! # use futures_util::{StreamExt as _, stream};
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let kernel = Kernel::builder(Engine::new(Arc::new(MemoryStore::default()))).build();
//! // `echo` returns a model that repeats the prompt. `examples/echo.rs` shows how to write one.
//! let new = NewSession::in_workspace(Workspace::new("/work/demo"));
//! let main = kernel.create(new, SessionConfig::new(echo()));
//! main.execute("plan A or plan B?").await?;
//!
//! let fork = main.fork(Fork::of(main.id())).await?.child;
//! let (a, b) = tokio::join!(main.execute("let us take A"), fork.execute("let us take B"));
//! assert_eq!(a?.text, "You said: let us take A");
//! assert_eq!(b?.text, "You said: let us take B");
//! assert_eq!(kernel.engine().diff(&main.id(), &fork.id())?.common, 2);
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
//! The kernel makes no decisions. The application decides which model and tools to use, how the
//! configuration of a child is merged, and who grants permission. `forklore-llm` provides models
//! over HTTP, `forklore-mcp-client` the tools of MCP servers, and `forklore-otel` traces.

/// Makes the documentation tests compile and run the code in `docs/agent.md`.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/agent.md")]
struct AgentPage;

pub mod answer_limits;
pub mod approve;
mod cache_key;
pub mod config;
mod context;
pub mod delegate_tool;
mod delegation;
pub mod error;
pub mod evidence;
mod gauge;
mod handle;
pub mod hook;
mod kernel;
pub mod media;
pub mod model;
pub mod notify;
mod panic;
pub mod permissions;
mod session;
pub mod tool;
mod turn;

pub use cache_key::cache_key;
pub use config::{Budget, SessionConfig, Settings};
pub use delegation::{Delegate, Delegated, Delegation};
pub use error::{Error, Result};
pub use forklore_core::Prices;
pub use gauge::Gauge;
pub use kernel::{Kernel, KernelBuilder};
pub use notify::event::TurnUsage;
pub use session::{AgentSession, Branched, NewSession, Prompt};
pub use turn::{Compacted, Status, Turn};
