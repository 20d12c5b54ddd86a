//! The forklore contract: the request and the answer of every verb, as JSON and as Rust types.
//!
//! Use this crate to read or write the JSON that the program prints with `--json`. Also use it to
//! build a server, a language binding or a protocol that accepts and returns the same types. To run
//! the verbs in Rust, use `forklore` or `forklore-engine`, which re-export these types.
//!
//! - [`Request`] is any verb with its arguments. [`Create`], [`Append`], [`Fork`] and others are
//!   the arguments of one verb.
//! - [`SessionAnswer`], [`Forked`], [`Difference`] and others are the answers of verbs.
//! - [`Refusal`] and [`ErrorObject`] report why a verb failed; [`Facts`] are the details of the
//!   error.
//! - [`event`] has the notifications of a running agent.
//!
//! [`read`] parses a request from JSON and rejects unknown fields. Its error names the path of the
//! invalid value.
//!
//! ```
//! use forklore_api::{Fork, read};
//! use forklore_core::Selector;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let fork: Fork = read(r#"{"parent_session_id": "plan-1", "at": "turn:2"}"#)?;
//! assert_eq!(fork, Fork::of("plan-1".parse()?).at(Selector::Turn(2)));
//!
//! let json = serde_json::to_value(&fork)?;
//! assert_eq!(json["parent_session_id"], "plan-1");
//! assert_eq!(json["kind"], "branch");
//!
//! let wrong = read::<Fork>(r#"{"parent_session_id": "plan-1", "at": 7}"#);
//! assert_eq!(wrong.err().map(|error| error.path().to_owned()), Some("at".to_owned()));
//! # Ok(())
//! # }
//! ```
//!
//! The crate contains only data types. It uses no file, no clock and no store, and it runs no verb.
//! `docs/semantics.md` specifies each verb. `docs/reference/json.md` and
//! `docs/reference/forklore.schema.json` are generated from this crate. Answers may gain fields, so
//! readers must ignore fields that they do not know.

mod anchor;
mod append;
mod attach;
mod backup;
mod bring;
mod chat;
mod config;
mod envelope;
mod error;
pub mod event;
mod explore;
mod export;
mod facts;
mod family;
mod fork;
mod graph;
mod health;
mod history;
mod import;
mod operation;
mod preview;
mod program;
mod read;
mod recovery;
mod redact;
#[cfg(feature = "schema")]
pub mod reference;
mod removal;
mod request;
mod restore;
mod retention;
mod sample;
mod search;
mod server;
mod session;
mod sparql;
mod stats;
mod tier;
mod transfer;
mod tree;
mod verbs;
mod watch;
mod workspace;

pub use anchor::{Anchor, AnchorCheck, AnchorReport, AnchorState, Anchored};
pub use append::{Append, Appended, Batch, NewEvent};
pub use attach::{Attach, Attached, AttachmentFile, Attachments, NamedAttachment, ReadAttachment};
pub use backup::{BackedUp, Backup, RestoreStore, RestoredStore};
pub use bring::{Bring, Brought, Summarize};
pub use chat::{TurnAnswer, TurnOutcome, TurnRequest};
pub use config::{
    AgentHook, AgentHooks, ConfigCheck, ConfigCreated, ConfigEdited, ConfigProblem, ConfigSetting,
    ConfigSettings, HookRun, Installed, LocalServer, SettingOrigin,
};
pub use envelope::Envelope;
pub use error::{ErrorObject, Refusal};
pub use explore::{AgentWork, Continuation, ContinuationState, Exploration, Explore, TestCounts};
pub use export::{Export, ExportTo, Exported, ExportedFile, LeftOut, ResumeIn, ResumeInRequest};
pub use facts::{Elsewhere, Facts};
pub use family::{Branch, Branches, Lineage, Relative};
pub use fork::{Fork, Forked, IdStyle, NotAnIdStyle};
pub use forklore_core::operation::{Obstacle, Operation, OperationId, OperationKind, Outcome};
pub use forklore_core::report::{Check, CheckStatus, Collected, Packed, Problem, Verification};
pub use forklore_core::tier::{
    Replica, RunningStatement, StatementCost, TableSize, TierLease, TierStatus,
};
pub use graph::{
    Graph, GraphFile, GraphFormat, GraphScope, NotAGraphFormat, Vocabulary, VocabularyPart,
};
pub use health::Doctor;
pub use history::{
    Ancestor, DetachedSubagent, Difference, DifferenceStats, EventLine, Inspection, LogRange,
    Record, RecordOrigin, ReplayRange, SideStats,
};
pub use import::{
    Discovery, FoundAgent, Import, ImportProblem, ImportProblemKind, Imported, ImportedSession,
    SidecarTotals, Survey,
};
pub use operation::{
    LeftAlone, OperationAnswer, OperationPage, OperationSession, OperationSummary,
    OperationsRequest, Undo, UndoState, Undone,
};
pub use preview::{ModelName, Preview, RequestPreview, SharedPrefix, TokenCount};
pub use program::{CompletionScript, HelpText, ManPage, ManPages, ProgramVersion};
pub use read::{Malformed, read, read_line};
pub use recovery::{LostKind, LostPiece, Recovered, Recovery};
pub use redact::{Redact, Redacted, RedactedEvent, RedactionCause};
pub use removal::{
    Delete, DeleteMode, Deleted, Detached, Gc, Undelete, Undeleted, UndeletedSession,
};
pub use request::Request;
pub use restore::{
    DamagedFile, Restore, RestoreAll, RestoredFile, RestoredFiles, SessionFile, SessionFiles,
    WrittenFile,
};
pub use retention::{
    AppliedRetention, ApplyRetention, DueSession, Retention, SpareReason, SparedSession,
};
pub use sample::{SampleSize, VerifiedSample, VerifySample};
pub use search::{
    Blame, BlameAnswer, Highlight, Hit, HitBranch, HitKind, NotAHitKind, Search, SearchAnswer,
    Snippet,
};
pub use server::{AccessToken, AccessTokens, Listening, NewAccessToken, NotAScope, Scope};
pub use session::{Create, ListRequest, Session, SessionAnswer, SessionPage, Status};
pub use sparql::{QueryAnswer, QueryHead, QueryParameter, QueryResults, Sparql};
pub use stats::{
    ModelUsage, SessionUsage, Stats, StatsAnswer, UsageByModel, UsageGroup, UsageGrouping,
    UsageReport, UsageScope,
};
pub use tier::TierTables;
pub use transfer::{
    HandedOff, Remote, Remotes, SkipReason, SkippedTransfer, Transfer, TransferState, Transferred,
    TransferredSession,
};
pub use tree::{BroughtMark, FlatNode, NestedNode, NodeHeader, Tree, TreeNode, TreeRequest, Trees};
pub use verbs::{ANSWERS, Form, VerbAnswer};
pub use watch::{FileChange, WatchLine};
pub use workspace::{
    ChangedFile, CollectedFiles, FilesBrought, FilesCompared, FilesRestored, FilesState, NamedPath,
    RecordedSnapshot, RewindScope, RewindUndone, Rewound, ShownSnapshot, Worktree, WorktreeRemoved,
    WorktreeState, Worktrees,
};
