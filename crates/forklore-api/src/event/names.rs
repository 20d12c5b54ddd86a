//! Every event with its canonical name.

use serde::{Deserialize, Serialize};

use super::{
    ApprovalAnswer, ApprovalQuestion, BlockEnded, BlockPiece, BlockStarted, ContextGauge,
    DelegateEnded, DelegateStarted, HistoryCompacted, HistoryCompaction, HookFailure, NoDetails,
    PromptAnswered, PromptSubmitted, ProviderAnswer, ProviderFailure, ProviderRequest,
    ProviderRetry, SessionBegan, SessionForked, Thought, ToolInput, ToolProgress, ToolResult,
    TurnEnded,
};

macro_rules! events {
    ($($(#[$doc:meta])* $variant:ident($data:ident) = $name:literal;)*) => {
        /// What happened, with its particulars.
        #[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(tag = "event", content = "data")]
        #[non_exhaustive]
        pub enum KernelEvent {
            $(
                $(#[$doc])* #[doc = concat!(" (`", $name, "`)")]
                #[serde(rename = $name)]
                $variant($data),
            )*
        }

        /// The name of an event.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize,
        )]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[non_exhaustive]
        pub enum Name {
            $(
                $(#[$doc])* #[doc = concat!(" (`", $name, "`)")]
                #[serde(rename = $name)]
                $variant,
            )*
        }

        impl Name {
            /// Every name.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The name as it is written.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }

        impl KernelEvent {
            /// The event's name.
            #[must_use]
            pub fn name(&self) -> Name {
                match self { $(Self::$variant(_) => Name::$variant),* }
            }

            /// The particulars as JSON, with the keys of each object in alphabetical order.
            ///
            /// # Errors
            /// When a value in them cannot be written as JSON.
            pub fn data(&self) -> serde_json::Result<serde_json::Value> {
                match self { $(Self::$variant(data) => serde_json::to_value(data)),* }
            }
        }
    };
}

events! {
    /// The first turn ever of a session has begun.
    SessionStart(SessionBegan) = "session:start";
    /// The first turn in this process of a session that ran before has begun.
    SessionResume(SessionBegan) = "session:resume";
    /// A child was made.
    SessionFork(SessionForked) = "session:fork";
    /// A session was ended in this process.
    SessionEnd(NoDetails) = "session:end";
    /// A prompt was stored.
    PromptSubmit(PromptSubmitted) = "prompt:submit";
    /// A prompt was answered.
    PromptComplete(PromptAnswered) = "prompt:complete";
    /// A model is asked.
    ProviderRequest(ProviderRequest) = "provider:request";
    /// A model has answered.
    ProviderResponse(ProviderAnswer) = "provider:response";
    /// A model will be asked again after a pause.
    ProviderRetry(ProviderRetry) = "provider:retry";
    /// A model did not answer.
    ProviderError(ProviderFailure) = "provider:error";
    /// A block of an answer begins.
    ContentBlockStart(BlockStarted) = "content_block:start";
    /// More of a block.
    ContentBlockDelta(BlockPiece) = "content_block:delta";
    /// A block of an answer is whole.
    ContentBlockEnd(BlockEnded) = "content_block:end";
    /// More of what the model thinks.
    ThinkingDelta(BlockPiece) = "thinking:delta";
    /// What the model thought, whole.
    ThinkingFinal(Thought) = "thinking:final";
    /// A tool is about to be called.
    ToolPre(ToolInput) = "tool:pre";
    /// A tool has answered.
    ToolPost(ToolResult) = "tool:post";
    /// A tool has failed.
    ToolError(ToolResult) = "tool:error";
    /// A tool reports its progress.
    ToolProgress(ToolProgress) = "tool:progress";
    /// The history is about to be compacted.
    ContextPreCompact(HistoryCompaction) = "context:pre_compact";
    /// The history was compacted.
    ContextPostCompact(HistoryCompacted) = "context:post_compact";
    /// How full the context is.
    ContextGauge(ContextGauge) = "context:gauge";
    /// A person is asked.
    ApprovalRequired(ApprovalQuestion) = "approval:required";
    /// The person allowed it.
    ApprovalGranted(ApprovalAnswer) = "approval:granted";
    /// The person did not allow it.
    ApprovalDenied(ApprovalAnswer) = "approval:denied";
    /// A turn is to be interrupted.
    CancelRequested(NoDetails) = "cancel:requested";
    /// A turn was interrupted.
    CancelCompleted(NoDetails) = "cancel:completed";
    /// A sub-agent was made.
    DelegateSpawned(DelegateStarted) = "delegate:agent_spawned";
    /// A sub-agent gets more to do.
    DelegateResumed(DelegateStarted) = "delegate:agent_resumed";
    /// A sub-agent is done.
    DelegateCompleted(DelegateEnded) = "delegate:agent_completed";
    /// A sub-agent failed.
    DelegateError(DelegateEnded) = "delegate:error";
    /// A turn is over, whatever came of it.
    OrchestratorComplete(TurnEnded) = "orchestrator:complete";
    /// A hook failed and was passed over.
    HookError(HookFailure) = "hook:error";
}

impl Name {
    /// Whether events of this name tell of something on its way, which is not stored.
    #[must_use]
    pub fn is_ephemeral(self) -> bool {
        matches!(
            self,
            Self::ContentBlockStart
                | Self::ContentBlockDelta
                | Self::ThinkingDelta
                | Self::ToolProgress
        )
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
