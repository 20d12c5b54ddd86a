//! Full-text search over the sessions of a store, with an index that is stored in the store's cache
//! folder and kept up to date.
//!
//! Use this crate to find messages, tool calls, results, titles and labels by their words. A
//! message that a session shares with its forks is indexed once, under the session that wrote it.
//! Such a message is one hit, which lists the sessions whose history contains the message.
//!
//! - [`SearchIndex`] answers a [`Search`] for words, and a [`Blame`]: which tool calls name a file.
//!   Each search first reads what was written since the last search.
//!
//! ```
//! use std::sync::Arc;
//!
//! use forklore_api::Search;
//! use forklore_core::workspace::Workspace;
//! use forklore_engine::{Create, Engine, Fork, NewEvent};
//! use forklore_search::SearchIndex;
//! use forklore_store::memory::MemoryStore;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = Engine::new(Arc::new(MemoryStore::default()));
//! let main = engine.create(&Create::in_workspace(Workspace::new("/work/demo")))?.id;
//! engine.append(&main, &NewEvent::user("plan A or plan B?")?.into())?;
//! engine.fork(&Fork::of(main.clone()))?;
//!
//! let answer = SearchIndex::of(&engine).search(&Search::of("plan b*"))?;
//! let [hit] = answer.hits.as_slice() else { return Err("not one hit".into()) };
//! assert_eq!((&hit.session_id, hit.branch_count), (&main, 2));
//! # Ok(())
//! # }
//! ```
//!
//! The index contains no text: the text of a hit is read from the store. A search changes no
//! session.

mod blame;
mod branches;
mod document;
mod documents;
mod fold;
mod hits;
mod layout;
mod matches;
mod open_calls;
mod paths;
mod prefetch;
mod query;
mod rank;
mod scan;
mod search;
mod sessions;
mod snippet;
mod update;

pub use forklore_api::{Blame, BlameAnswer, Hit, HitBranch, HitKind, Search, SearchAnswer};
pub use search::{EarlyAnswer, SearchIndex};
pub use update::Progress;
