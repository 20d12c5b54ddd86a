//! All events of the kernel, with their names and the types of their data.

use serde::{Deserialize, Serialize};

use super::{
    ApplicationEvent, ApprovalAnswer, ApprovalQuestion, BlockEnded, BlockPiece, BlockStarted,
    ContextGauge, DelegateEnded, DelegateStarted, HistoryCompacted, HistoryCompaction, HookFailure,
    NoDetails, PromptAnswered, PromptSubmitted, ProviderAnswer, ProviderFailure, ProviderRequest,
    ProviderRetry, SessionBegan, SessionEnded, SessionForked, Thought, ToolInput, ToolProgress,
    ToolResult, TurnEnded,
};

macro_rules! events {
    ($($(#[$doc:meta])* $variant:ident($data:ident) = $name:literal;)*) => {
        /// An event that the kernel emits for a session, with its data. The kernel is the part of
        /// forklore that runs turns.
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
            /// An event that the application defines and the kernel announces.
            #[serde(untagged)]
            #[cfg_attr(feature = "schema", schemars(skip))]
            Application(ApplicationEvent),
        }

        /// The name of an event that the kernel emits, such as `session:start`.
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
            /// The names of all events that the kernel emits.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Returns the event name as it is written in JSON, such as `session:start`.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }

        impl KernelEvent {
            /// Returns the kind of the event. `None` for an event that the application defines.
            #[must_use]
            pub fn kind(&self) -> Option<Name> {
                match self {
                    $(Self::$variant(_) => Some(Name::$variant),)*
                    Self::Application(_) => None,
                }
            }

            /// Returns the name of the event as it is written in JSON, such as `session:start`.
            #[must_use]
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $name,)*
                    Self::Application(event) => event.name.as_str(),
                }
            }

            /// Returns the event's data as JSON, with the keys of each object in alphabetical
            /// order.
            ///
            /// # Errors
            /// If a value in the data cannot be written as JSON.
            pub fn data(&self) -> serde_json::Result<serde_json::Value> {
                match self {
                    $(Self::$variant(data) => serde_json::to_value(data),)*
                    Self::Application(event) => Ok(event.data.clone()),
                }
            }
        }
    };
}

events! {
    /// The first turn of a new session begins.
    SessionStart(SessionBegan) = "session:start";
    /// This process begins its first turn in an existing session.
    SessionResume(SessionBegan) = "session:resume";
    /// A child session was created.
    SessionFork(SessionForked) = "session:fork";
    /// This process closed a session.
    SessionEnd(SessionEnded) = "session:end";
    /// A prompt of the user was stored in the session.
    PromptSubmit(PromptSubmitted) = "prompt:submit";
    /// The model answered a prompt completely.
    PromptComplete(PromptAnswered) = "prompt:complete";
    /// A request to a model begins.
    ProviderRequest(ProviderRequest) = "provider:request";
    /// A model returned a complete answer.
    ProviderResponse(ProviderAnswer) = "provider:response";
    /// A model request failed and will be retried after a delay.
    ProviderRetry(ProviderRetry) = "provider:retry";
    /// A request to a model failed and will not be retried.
    ProviderError(ProviderFailure) = "provider:error";
    /// A block (text, reasoning or tool call) of a model's answer begins.
    ContentBlockStart(BlockStarted) = "content_block:start";
    /// More text of a block of a model's answer arrived.
    ContentBlockDelta(BlockPiece) = "content_block:delta";
    /// A block (text or tool call) of a model's answer was stored. If the answer broke off, the
    /// text may be incomplete. A block of reasoning ends with `thinking:final` instead.
    ContentBlockEnd(BlockEnded) = "content_block:end";
    /// More text of the model's reasoning arrived.
    ThinkingDelta(BlockPiece) = "thinking:delta";
    /// A block of the model's reasoning is complete.
    ThinkingFinal(Thought) = "thinking:final";
    /// A tool is about to be called.
    ToolPre(ToolInput) = "tool:pre";
    /// A tool call succeeded.
    ToolPost(ToolResult) = "tool:post";
    /// A tool call failed.
    ToolError(ToolResult) = "tool:error";
    /// A running tool reports progress.
    ToolProgress(ToolProgress) = "tool:progress";
    /// A summary is about to replace part of a session's history in model requests.
    ContextPreCompact(HistoryCompaction) = "context:pre_compact";
    /// A summary now replaces part of a session's history in model requests.
    ContextPostCompact(HistoryCompacted) = "context:post_compact";
    /// Reports how full the model's context window is.
    ContextGauge(ContextGauge) = "context:gauge";
    /// The user must approve something before the turn continues.
    ApprovalRequired(ApprovalQuestion) = "approval:required";
    /// The user approved a request for approval.
    ApprovalGranted(ApprovalAnswer) = "approval:granted";
    /// The user denied a request for approval.
    ApprovalDenied(ApprovalAnswer) = "approval:denied";
    /// The user or the application requested that a running turn stops.
    CancelRequested(NoDetails) = "cancel:requested";
    /// A turn was interrupted.
    CancelCompleted(NoDetails) = "cancel:completed";
    /// A sub-agent was created.
    DelegateSpawned(DelegateStarted) = "delegate:agent_spawned";
    /// An existing sub-agent gets another task.
    DelegateResumed(DelegateStarted) = "delegate:agent_resumed";
    /// A sub-agent completed its task.
    DelegateCompleted(DelegateEnded) = "delegate:agent_completed";
    /// A sub-agent failed.
    DelegateError(DelegateEnded) = "delegate:error";
    /// A turn ended, successfully or not.
    OrchestratorComplete(TurnEnded) = "orchestrator:complete";
    /// A hook (code of the application) failed and was skipped.
    HookError(HookFailure) = "hook:error";
}

impl Name {
    /// Checks whether events of this name are ephemeral: they report only progress. Such events are
    /// not stored.
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
