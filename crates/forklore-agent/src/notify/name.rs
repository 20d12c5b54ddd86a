//! The names of notifications: those of Amplifier, so that its observers understand them.

macro_rules! names {
    ($($(#[$doc:meta])* $variant:ident = $name:literal;)*) => {
        /// What sort of thing a notification tells of.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Name {
            $($(#[$doc])* #[doc = concat!(" (`", $name, "`)")] $variant,)*
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
    };
}

names! {
    /// The first turn ever of a session has begun.
    SessionStart = "session:start";
    /// The first turn in this process of a session that ran before has begun.
    SessionResume = "session:resume";
    /// A child was made.
    SessionFork = "session:fork";
    /// A session was ended in this process.
    SessionEnd = "session:end";
    /// A prompt was taken.
    PromptSubmit = "prompt:submit";
    /// A prompt was answered.
    PromptComplete = "prompt:complete";
    /// A model is asked.
    ProviderRequest = "provider:request";
    /// A model has answered.
    ProviderResponse = "provider:response";
    /// A model is asked again, later.
    ProviderRetry = "provider:retry";
    /// A model did not answer.
    ProviderError = "provider:error";
    /// A block of an answer begins.
    ContentBlockStart = "content_block:start";
    /// More of a block.
    ContentBlockDelta = "content_block:delta";
    /// A block of an answer is whole.
    ContentBlockEnd = "content_block:end";
    /// More of what the model thinks.
    ThinkingDelta = "thinking:delta";
    /// What the model thought, whole.
    ThinkingFinal = "thinking:final";
    /// A tool is about to be called.
    ToolPre = "tool:pre";
    /// A tool has answered.
    ToolPost = "tool:post";
    /// A tool has failed.
    ToolError = "tool:error";
    /// A tool says how far it is.
    ToolProgress = "tool:progress";
    /// The history is about to be compacted.
    ContextPreCompact = "context:pre_compact";
    /// The history was compacted.
    ContextPostCompact = "context:post_compact";
    /// How full the context is.
    ContextGauge = "context:gauge";
    /// A person is asked.
    ApprovalRequired = "approval:required";
    /// It was allowed.
    ApprovalGranted = "approval:granted";
    /// It was not allowed.
    ApprovalDenied = "approval:denied";
    /// A turn is to be interrupted.
    CancelRequested = "cancel:requested";
    /// A turn was interrupted.
    CancelCompleted = "cancel:completed";
    /// A sub-agent was made.
    DelegateSpawned = "delegate:agent_spawned";
    /// A sub-agent is given more to do.
    DelegateResumed = "delegate:agent_resumed";
    /// A sub-agent is done.
    DelegateCompleted = "delegate:agent_completed";
    /// A sub-agent failed.
    DelegateError = "delegate:error";
    /// A turn is over, whatever came of it.
    OrchestratorComplete = "orchestrator:complete";
    /// A hook failed and was passed over.
    HookError = "hook:error";
}

impl Name {
    /// Whether it tells of something on its way, which is not stored.
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
