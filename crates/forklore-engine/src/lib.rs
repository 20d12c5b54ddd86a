//! What one can do with sessions: one verb a file, over any store.
//!
//! The engine holds the meaning of forklore (`docs/semantics.md`) that no store needs to know:
//! selectors, plans, views, trees, differences. It trusts nothing it read before: whatever must
//! still be true when something is written is checked again by the store, in the same step.

mod append;
mod attach;
mod attachments;
mod branches;
mod bring;
mod brought_marks;
mod clock;
mod compaction;
mod context_usage;
mod create;
mod cut;
mod delete;
mod detach;
mod diff;
pub mod error;
mod events;
mod export;
mod first_words;
mod follow;
mod fork;
mod gc;
mod inspect;
mod interrupted_turn;
mod label;
mod lease;
mod lineage;
mod list;
mod load;
mod log;
mod pack;
mod playback;
mod recover;
mod repeated;
mod replay;
mod resolve;
pub mod sources;
mod stats;
mod summary;
mod tree;
mod usage_report;
mod verify;
mod view;

use std::sync::Arc;

use forklore_core::agent_format::{AgentFormat, AgentFormats};
use forklore_core::session_container::SessionContainer;
use forklore_core::{Header, SessionId};
pub use forklore_store::attachments::Pin;
use forklore_store::{Error as StoreError, Store};

pub use clock::{Clock, SystemClock};
pub use compaction::CompactionPlan;
pub use context_usage::ContextUsage;
pub use error::{Error, Result};
pub use events::Events;
pub use export::Outgoing;
pub use follow::Follower;
pub use fork::{ForkRecord, limitations, synthetic_result};
pub use forklore_api::{
    Ancestor, AppendRequest, Attach, Attached, Branch, Branches, Bring, Brought, BroughtMark,
    Create, Delete, DeleteMode, Deleted, Detached, Difference, Elsewhere, ExportTo, Exported, Fork,
    Forked, Inspection, LeftOut, Lineage, ListRequest, LogRange, LostKind, LostPiece, ModelUsage,
    NamedAttachment, NewEvent, NodeHeader, Record, RecordOrigin, Recovery, Relative, SessionUsage,
    Stats, Summarize, TreeNode, TreeRequest, Trees, UsageReport, UsageScope,
};
pub use inspect::{Messages, ModelView};
pub use lease::LEASE;
pub use list::Listing;
pub use load::Loaded;
pub use playback::Pace;
pub use replay::Replay;
pub use resolve::Scope;
pub use sources::{Restored, SessionFile};
pub use tree::Mark;

use attachments::StoredAttachments;

/// The verbs, over one store.
#[derive(Clone)]
pub struct Engine {
    store: Arc<dyn Store>,
    attachments: Option<StoredAttachments>,
    formats: &'static [&'static dyn AgentFormat],
    containers: &'static [&'static dyn SessionContainer],
    /// A clock of a test.
    clock: Option<Arc<dyn Clock>>,
    max_fork_depth: Option<u64>,
}

impl Engine {
    /// The verbs over `store`; those that need a capability that it lacks are refused.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        let attachments = store.attachments().map(StoredAttachments::new);
        Self {
            store,
            attachments,
            formats: &[],
            containers: &[],
            clock: None,
            max_fork_depth: None,
        }
    }

    /// The same verbs, reading the records of these agents.
    #[must_use]
    pub fn with_agent_formats(mut self, formats: &'static [&'static dyn AgentFormat]) -> Self {
        self.formats = formats;
        self
    }

    /// The same verbs, finding the sessions in files that hold many.
    #[must_use]
    pub fn with_containers(mut self, containers: &'static [&'static dyn SessionContainer]) -> Self {
        self.containers = containers;
        self
    }

    /// The same verbs at another time: for tests.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// The same verbs, refusing forks more than `links` below the root or the last detached
    /// session (SPEC 6; the Trails profile says 32).
    #[must_use]
    pub fn with_max_fork_depth(mut self, links: Option<u64>) -> Self {
        self.max_fork_depth = links;
        self
    }

    /// The agents whose records it reads.
    #[must_use]
    pub fn agent_formats(&self) -> AgentFormats<'static> {
        AgentFormats(self.formats)
    }

    /// The kinds of files with many sessions that it finds sessions in.
    #[must_use]
    pub fn containers(&self) -> &'static [&'static dyn SessionContainer] {
        self.containers
    }

    /// The store below.
    #[must_use]
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// What time it is, by the store's clock.
    #[must_use]
    pub fn now(&self) -> jiff::Timestamp {
        let now = self.clock.as_ref().map_or_else(|| self.store.now(), |clock| clock.now());
        forklore_core::event::to_micros(now)
    }

    /// Random bits for an id.
    fn random(&self) -> [u8; 10] {
        self.clock.as_ref().map_or_else(|| SystemClock.random(), |clock| clock.random())
    }

    /// The header of a session that exists and was not deleted (SPEC 1).
    ///
    /// # Errors
    /// `not_found`.
    pub fn show(&self, id: &SessionId) -> Result<Header> {
        living(self.store.header(id)?)
    }
}

/// The header, unless its session was deleted (SPEC 1).
fn living(header: Header) -> Result<Header> {
    if header.deleted.is_some() {
        return Err(StoreError::Deleted(header.id).into());
    }
    Ok(header)
}
