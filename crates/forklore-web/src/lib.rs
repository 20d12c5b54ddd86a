//! The pages of forklore in the browser: the list of sessions, the reader, families, forks,
//! comparisons and statistics.
//!
//! [`router`] returns the pages as a router, for a server that checks who may see them. The pages
//! are complete without JavaScript. The scripts add keys, dialogs and live updates.
//!
//! Text of a session may be hostile. All text is escaped, links lead only to the web, and no page
//! has a script, a style or an event handler in its HTML, so a server can forbid all of these in its
//! content security policy. The pages load nothing from other servers.
//!
//! Every answer reads a bounded part of the store, except the statistics and the families, which are
//! read once. Of a family, only what has changed is read again.

mod answer;
mod assets;
mod change;
mod compare;
mod deeds;
mod deeds_view;
mod entry;
mod entry_view;
mod event;
mod families;
mod family;
mod fate;
mod files;
mod fork;
mod jump;
mod lanes;
mod list;
mod list_view;
mod params;
pub mod part;
mod reader;
mod recorded;
mod rewind;
mod routes;
mod runs;
mod search;
mod shell;
mod shown;
mod stats;
mod stats_view;
mod turnings;
mod window;

use std::sync::{Arc, Once};

use forklore_core::price::PriceTable;
use forklore_engine::Engine;
use forklore_search::SearchIndex;
use jiff::tz::TimeZone;

pub use rewind::{Files, Rights};
pub use routes::router;

/// What the pages show, and how.
#[derive(Clone)]
pub struct Pages {
    /// The sessions.
    pub engine: Engine,
    /// How a user calls the program, with the options that name this store, such as
    /// `forklore --store sqlite:/work/team.db`. The pages show commands that begin with it.
    pub program: String,
    /// The prices of models, from which the cost of a call follows if its record states none.
    pub prices: PriceTable,
    /// The time zone in which the pages show times, and in which days begin.
    pub zone: TimeZone,
    /// Whether the server has pages on which one talks to an agent, at `/s/ID/chat` and `/chat/new`.
    pub has_chat: bool,
    /// The snapshots of the sessions' files. `None` if the server has none. The files of a session are
    /// changed only if `has_chat` is set too: the agent's tools may change them then anyway.
    pub files: Option<Files>,
}

impl Pages {
    /// Creates the pages of the sessions of `engine`, with the name `forklore` for the program, no
    /// prices, and times in UTC.
    #[must_use]
    pub fn new(engine: Engine) -> Self {
        Self {
            engine,
            program: "forklore".to_owned(),
            prices: PriceTable::default(),
            zone: TimeZone::UTC,
            has_chat: false,
            files: None,
        }
    }
}

/// The pages, as the handlers of requests share them.
pub(crate) struct App {
    pub(crate) pages: Pages,
    pub(crate) report: stats::Cached,
    pub(crate) families: families::Families,
    pub(crate) searched: Once,
}

impl App {
    /// Prepares the search of the store once, in the background. Whoever opens the list of sessions
    /// may search next, and the first search of a large store must not make them wait.
    pub(crate) fn prepare_search(&self) {
        self.searched.call_once(|| {
            let engine = self.pages.engine.clone();
            let prepare = move || drop(SearchIndex::of(&engine).prepare());
            // Without this, the first search does the work and says what is wrong.
            let _ = std::thread::Builder::new().name("search".into()).spawn(prepare);
        });
    }
}

pub(crate) type Shared = Arc<App>;
