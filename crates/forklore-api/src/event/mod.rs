//! The events of the kernel: what sessions that run tell whoever listens (SPEC 13).
//!
//! The names are Amplifier's, so that its observers understand them. On the wire an event is one
//! JSON object: its name, the ids of its session, its parent and its family, the time, and the
//! particulars under `data`. This module uses nothing but the core types, so that whoever reads
//! events needs no kernel.

mod answer;
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
pub use approval::{ApprovalAnswer, ApprovalQuestion, HookFailure};
pub use child::{DelegateEnded, DelegateStarted};
pub use context::{CompactionReason, ContextGauge, HistoryCompacted, HistoryCompaction};
pub use names::{KernelEvent, Name};
pub use notification::{Identity, Notification};
pub use provider::{
    EndReason, ProviderAnswer, ProviderFailure, ProviderRequest, ProviderRetry, TokenUsage,
};
pub use session::{ForkReason, NoDetails, SessionBegan, SessionForked};
pub use tool::{ToolInput, ToolProgress, ToolResult, ToolStep};
pub use turn::{PromptAnswered, PromptSubmitted, TurnEnded, TurnResult, TurnStatus, TurnUsage};
