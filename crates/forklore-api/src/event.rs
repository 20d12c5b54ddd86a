//! The events that the kernel publishes about running sessions.
//!
//! Events that the agent Amplifier also has are named as in Amplifier, so that Amplifier's
//! observers understand them. The application can announce events of its own, under any other name
//! of the form `x:y`. In JSON, an event is one object: the event name, the ids of the session, its
//! parent and its family, the time, and details under `data`. See docs/semantics.md, Lifecycle
//! notifications. This module uses only types of the core crate, so that consumers of events do not
//! need the kernel.

mod answer;
mod application;
mod approval;
mod child;
mod context;
mod names;
mod notification;
mod provider;
mod session;
mod tool;
mod turn;

pub use answer::{Block, BlockEnded, BlockKind, BlockPiece, BlockStarted, CalledTool, Thought};
pub use application::{ApplicationEvent, ApplicationName, InvalidName};
pub use approval::{ApprovalAnswer, ApprovalQuestion, HookFailure};
pub use child::{DelegateEnded, DelegateStarted};
pub use context::{CompactionReason, ContextGauge, HistoryCompacted, HistoryCompaction};
pub use names::{KernelEvent, Name};
pub use notification::{Identity, Notification};
pub use provider::{
    EndReason, ProviderAnswer, ProviderFailure, ProviderRequest, ProviderRetry, TokenUsage,
};
pub use session::{EndStatus, ForkReason, NoDetails, SessionBegan, SessionEnded, SessionForked};
pub use tool::{ToolInput, ToolProgress, ToolResult, ToolStep};
pub use turn::{PromptAnswered, PromptSubmitted, TurnEnded, TurnResult, TurnStatus, TurnUsage};
