//! The operations on sessions, over any [`Store`]: create, append, fork, diff and all others.
//!
//! Use this crate to work with sessions without async, on a store that you choose yourself. For
//! most programs, the crate `forklore` is simpler: it wraps this crate, opens a store by its
//! address and adds async methods. The crate `forklore-agent` adds turns with a model.
//!
//! - [`Engine`] has every operation as a method. The methods take and return the types of
//!   [`forklore_api`], which this crate re-exports: [`Create`], [`Batch`], [`Fork`],
//!   [`Difference`] and others.
//! - [`Events`], [`Replay`], [`Messages`] and [`Follower`] read long histories piece by piece.
//! - [`Error`] has a kind that programs can compare, and details as JSON.
//!
//! ```
//! use std::sync::Arc;
//!
//! use forklore_core::Selector;
//! use forklore_core::workspace::Workspace;
//! use forklore_engine::{Create, Engine, Fork, NewEvent};
//! use forklore_store::memory::MemoryStore;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = Engine::new(Arc::new(MemoryStore::default()));
//! let main = engine.create(&Create::in_workspace(Workspace::new("/work/demo")))?.id;
//! let first = [NewEvent::user("plan A or plan B?")?, NewEvent::assistant("both would do")?];
//! engine.append(&main, &first.to_vec().into())?;
//! engine.append(&main, &NewEvent::user("let us take A")?.into())?;
//!
//! // The fork begins after the first turn and inherits it.
//! let fork = engine.fork(&Fork::of(main.clone()).at(Selector::Turn(1)))?.child_session_id;
//! engine.append(&fork, &NewEvent::user("let us take B")?.into())?;
//!
//! let difference = engine.diff(&main, &fork)?;
//! assert_eq!(difference.common, 2);
//! assert_eq!((difference.only_a.len(), difference.only_b.len()), (1, 1));
//! assert_eq!(engine.inspect(&fork)?.messages.len(), 3);
//! # Ok(())
//! # }
//! ```
//!
//! The engine calls no model, opens no file of an agent, and contains no code for a particular
//! store. It never relies on an earlier read when it writes: the store checks again, in the
//! transaction of the write, every condition that must still be true. `docs/semantics.md` in the
//! repository specifies every operation.

mod anchor;
mod append;
mod attach;
mod attachments;
mod branches;
mod bring;
mod brought_marks;
mod clock;
mod compaction;
mod context_usage;
mod copy_overlap;
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
mod fork_summary;
mod gc;
mod header_limits;
mod ids;
mod inspect;
mod interrupted_turn;
mod label;
mod lease;
mod lineage;
mod lineage_order;
mod list;
mod load;
mod log;
mod operations;
mod other_session;
mod pack;
mod playback;
pub mod reading;
mod recover;
mod redact;
mod rename;
mod replay;
mod resolve;
mod retention;
mod sample;
pub mod sources;
mod stats;
mod summary;
mod transfer;
mod trash;
mod tree;
mod undelete;
mod undo;
mod usage_report;
mod verify;
mod view;

use std::sync::Arc;

use forklore_core::agent_format::{AgentFormat, AgentFormats};
use forklore_core::session_container::SessionContainer;
use forklore_core::{Header, SessionId};
pub use forklore_store::attachments::Pin;
pub use forklore_store::lease_owner;
use forklore_store::{Error as StoreError, Store};

pub use anchor::{AnchorKey, AnchorOptions};
pub use clock::{Clock, SystemClock};
pub use compaction::CompactionPlan;
pub use context_usage::ContextUsage;
pub use error::{Error, Result};
pub use events::Events;
pub use export::Outgoing;
pub use follow::Follower;
pub use fork::{ForkRecord, limitations, synthetic_result};
pub use forklore_api::{
    Ancestor, Anchor, AnchorCheck, AnchorReport, AnchorState, Anchored, AppliedRetention,
    ApplyRetention, Attach, Attached, Batch, Branch, Branches, Bring, Brought, BroughtMark, Create,
    Delete, DeleteMode, Deleted, Detached, DetachedSubagent, Difference, DifferenceStats,
    Elsewhere, ExportTo, Exported, Fork, Forked, Gc, IdStyle, Inspection, LeftAlone, LeftOut,
    Lineage, ListRequest, LogRange, LostKind, LostPiece, ModelUsage, NamedAttachment, NewEvent,
    NodeHeader, OperationAnswer, OperationPage, OperationSession, OperationSummary,
    OperationsRequest, Record, RecordOrigin, Recovery, Redact, Redacted, Relative, ReplayRange,
    Retention, SampleSize, SessionUsage, SideStats, SkipReason, SkippedTransfer, SpareReason,
    Stats, Summarize, Transfer, TransferState, Transferred, TransferredSession, TreeNode,
    TreeRequest, Trees, Undelete, Undeleted, UndeletedSession, Undo, UndoState, Undone, UsageGroup,
    UsageGrouping, UsageReport, UsageScope, VerifiedSample, VerifySample,
};
pub use inspect::{Messages, ModelView};
pub use lease::LEASE;
pub use list::Listing;
pub use load::Loaded;
pub use playback::Pace;
pub use replay::{Replay, ReplayWithSummaries, Replayed, ReplayedSummary};
pub use resolve::{Reference, Scope};
pub use sources::{Restored, StoredFile};
pub use transfer::TransferProgress;
pub use tree::Mark;
pub use usage_report::UsageOptions;

use attachments::StoredAttachments;

/// Performs all operations on the sessions of one store. Clones of an engine share the store.
#[derive(Clone)]
pub struct Engine {
    store: Arc<dyn Store>,
    attachments: Option<StoredAttachments>,
    formats: &'static [&'static dyn AgentFormat],
    containers: &'static [&'static dyn SessionContainer],
    /// Supplies the time and random bits in tests. If `None`, the engine uses the store's clock and
    /// system randomness.
    clock: Option<Arc<dyn Clock>>,
    max_fork_depth: Option<u64>,
    /// The name of the program that uses the engine. The store records it with each operation.
    program: Option<Arc<str>>,
    principal: Option<Arc<str>>,
}

impl Engine {
    /// Creates an engine on `store`. An operation returns `unsupported` if the store lacks a
    /// capability that the operation needs.
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
            program: None,
            principal: None,
        }
    }

    /// Sets the agent formats whose records the engine can read. By default there are none.
    #[must_use]
    pub fn with_agent_formats(mut self, formats: &'static [&'static dyn AgentFormat]) -> Self {
        self.formats = formats;
        self
    }

    /// Sets the readers for files that contain several sessions. By default there are none.
    #[must_use]
    pub fn with_containers(mut self, containers: &'static [&'static dyn SessionContainer]) -> Self {
        self.containers = containers;
        self
    }

    /// Replaces the clock and the random source, for tests.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Limits the depth of forks. A branch that shares its history may be at most `links` parent
    /// links below the nearest session that needs no ancestor (docs/semantics.md, Fork). Such a
    /// session is a root, a delegate, a copy or a detached session. `None`, the default, sets no
    /// limit. A store with the Trails profile (the rules of an earlier design) uses 32.
    #[must_use]
    pub fn with_max_fork_depth(mut self, links: Option<u64>) -> Self {
        self.max_fork_depth = links;
        self
    }

    /// Names the program that uses the engine. The store records the name with each operation
    /// (docs/semantics.md, Operations).
    #[must_use]
    pub fn with_program(mut self, program: &str) -> Self {
        self.program = Some(program.into());
        self
    }

    /// Names the principal on whose behalf the engine is used. The store records the name with each
    /// operation, and bases no decision on it.
    #[must_use]
    pub fn with_principal(mut self, principal: &str) -> Self {
        self.principal = Some(principal.into());
        self
    }

    /// Returns an engine with the same settings on another store, for example on one that passes
    /// calls to this engine's store. Attachments remain those of this engine's store.
    #[must_use]
    pub fn on_store(&self, store: Arc<dyn Store>) -> Self {
        Self { store, ..self.clone() }
    }

    /// Returns the maximum depth of forks, or `None` if there is no limit.
    #[must_use]
    pub fn max_fork_depth(&self) -> Option<u64> {
        self.max_fork_depth
    }

    /// Returns the agent formats whose records the engine can read.
    #[must_use]
    pub fn agent_formats(&self) -> AgentFormats<'static> {
        AgentFormats(self.formats)
    }

    /// Returns the readers for files that contain several sessions.
    #[must_use]
    pub fn containers(&self) -> &'static [&'static dyn SessionContainer] {
        self.containers
    }

    /// Returns the store on which the engine works.
    #[must_use]
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Returns the store on which the engine works, to share it.
    #[must_use]
    pub fn shared_store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    /// Returns the current time, truncated to microseconds. The time comes from the store's clock, or
    /// from the test clock if one is set.
    #[must_use]
    pub fn now(&self) -> jiff::Timestamp {
        let now = self.clock.as_ref().map_or_else(|| self.store.now(), |clock| clock.now());
        forklore_core::event::to_micros(now)
    }

    /// Returns 80 random bits for a new id. Uses the test source if one is set.
    fn random(&self) -> [u8; 10] {
        self.clock.as_ref().map_or_else(|| SystemClock.random(), |clock| clock.random())
    }

    /// Returns the header of a session, unless the session was deleted.
    ///
    /// # Errors
    /// `not_found`: the session does not exist or was deleted.
    pub fn show(&self, id: &SessionId) -> Result<Header> {
        living(self.store.header(id)?)
    }
}

/// Returns `header` unchanged, or an error if its session was deleted.
fn living(header: Header) -> Result<Header> {
    if header.is_in_trash() {
        return Err(Error::InTrash(header.id));
    }
    if header.deleted.is_some() {
        return Err(StoreError::Deleted(header.id).into());
    }
    Ok(header)
}
