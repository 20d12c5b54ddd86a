//! The terminal front end of a conversation whose sessions can fork.
//!
//! Use this crate to add the conversation of `forklore chat` to a program at a terminal. Without a
//! terminal, use `forklore-host`, which this crate re-exports as [`host`].
//!
//! - [`Foreground`] runs the operations of a host for the program. It owns the async runtime, and a
//!   signal interrupts the running operation.
//! - [`Chat`] is an interactive conversation. The user types lines; a line that begins with a slash
//!   is a command.
//! - [`Input`](input::Input) reads lines; [`Editor`](input::Editor) implements it for a terminal. A
//!   [`Screen`](screen::Screen) writes the output.
//! - The program implements [`Views`], because some commands show the same output as a subcommand
//!   of the program.
//!
//! ```
//! use std::sync::Arc;
//!
//! use forklore_chat::host::Host;
//! # use forklore_chat::host::{Configured, Start};
//! use forklore_chat::input::{Input, Line, Offers};
//! use forklore_chat::{Chat, Foreground, markdown::Look, screen::Screen};
//! # use forklore_chat::{ShowRow, View, Views};
//! # use forklore_core::workspace::Workspace;
//! use forklore_engine::{Engine, ListRequest};
//! use forklore_store::memory::MemoryStore;
//! # use forklore_agent::model::{
//! #     AnswerStream, End, Model, ModelName, ModelResult, Request, StreamEvent,
//! # };
//! # use forklore_core::Message;
//! # use futures_util::future::BoxFuture;
//! # use futures_util::{StreamExt as _, stream};
//! /// Enters these lines. A program at a terminal uses an `Editor` instead.
//! struct Script(std::vec::IntoIter<&'static str>);
//! impl Input for Script {
//!     fn line(&mut self, _prompt: &str, _: Offers) -> Line {
//!         self.0.next().map_or(Line::End, |line| Line::Entered(line.to_owned()))
//!     }
//! #   fn put_back(&mut self) {}
//! #   fn begin(&mut self, _text: &str) {}
//! #   fn choose(&mut self, _: &str, _: &[String], _: usize) -> Option<usize> { None }
//! #   fn ask(&mut self, _question: &str) -> Option<String> { None }
//! }
//! # struct NoViews;
//! # impl Views for NoViews {
//! #     fn show(&mut self, _: View) {}
//! #     fn follow(&mut self, _rows: usize) -> ShowRow { Box::new(|_, _| {}) }
//! #     fn open_file(&mut self, _: &std::path::Path) -> Result<forklore_core::SessionId, String> {
//! #         Err("no file".into())
//! #     }
//! #     fn formats(&self) -> Vec<String> { Vec::new() }
//! # }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("config.toml");
//! # std::fs::write(&path, "[models.small]\nprovider = 'openai'\nmodel = 'm'\n")?;
//! # let (mut views, start) = (NoViews, Start::in_workspace(Workspace::new("/work/demo")));
//! # let configured = Configured::read(&path)?;
//! // `configured` has one model, which `echo` replaces by one that repeats the prompt.
//! let engine = Engine::new(Arc::new(MemoryStore::default()));
//! let make = || Host::with_models(engine, configured, Box::new(|_| Ok(echo())));
//! let foreground = Foreground::new(make)?;
//! let lines = vec!["plan A or plan B?", "/fork", "let us take B", "/quit"];
//! let screen = Screen::new(Box::new(std::io::sink()), Look { color: false, width: 80 });
//!
//! Chat::open(start, &foreground, &mut views, &mut Script(lines.into_iter()), screen)?.run();
//! let sessions = foreground.host().engine().list(&ListRequest::default())?;
//! assert_eq!(sessions.sessions.len(), 2);
//! foreground.close();
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
//! The crate opens no store and has no subcommands of its own. Apart from the line editor, it
//! writes only to the screen that the program passes, and escapes all text.

mod answers;
mod chat;
mod command;
mod count;
mod error;
mod foreground;
pub mod input;
pub mod markdown;
pub mod screen;
mod signals;
mod views;

pub use answers::Selected;
pub use chat::Chat;
pub use command::{ExploreOptions, best, in_trash};
pub use error::{Error, Result};
pub use foreground::{Explored, Foreground, HeadlessTurn, interruptible};
pub use forklore_host as host;
pub use signals::Stop;
pub use views::{Choice, ShowRow, View, Views};
