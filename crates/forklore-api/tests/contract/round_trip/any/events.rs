//! Generates random events of the kernel.

use forklore_api::event::*;
use serde_json::{Value, json};

use super::{Any, Dice, any};

words! {
    Value: [json!({}), json!({"path": "plan.md", "deep": [1, {"a": null}]}), json!("text")];
    BlockKind: [BlockKind::Text, BlockKind::Thinking, BlockKind::ToolCall];
    CompactionReason: [CompactionReason::Requested, CompactionReason::Threshold,
        CompactionReason::TooLong];
    EndReason: [EndReason::Done, EndReason::Calls, EndReason::Length, EndReason::Refused,
        EndReason::Other("content_filter".to_owned())];
    ApplicationName: [ApplicationName::PLAN_START, ApplicationName::POLICY_VIOLATION,
        "my-app:step:done".parse().unwrap()];
    EndStatus: [EndStatus::Completed, EndStatus::Cancelled, EndStatus::Failed];
    ForkReason: [ForkReason::LeaseLost];
    TurnStatus: [TurnStatus::Success, TurnStatus::Cancelled, TurnStatus::Incomplete];
}

fields! {
    ApplicationEvent { name, data }
    ApprovalAnswer { tool_call_id, reason }
    ApprovalQuestion { session, call, prompt }
    BlockEnded { block_type, block_index, total_blocks, block, partial }
    BlockPiece { block_type, block_index, delta }
    BlockStarted { block_type, block_index }
    CalledTool { id, name, arguments }
    ContextGauge { tokens, estimated, window, fraction }
    DelegateEnded { delegate, success, error, usage }
    DelegateStarted { agent, sub_session_id, parent_session_id, tool_call_id }
    HistoryCompacted { reason, from_index, to_index, strategy, tokens_before, tokens_after }
    HistoryCompaction { reason, from_index, to_index, tokens }
    HookFailure { hook, gate, error }
    Identity { session_id, parent_id, root_id }
    NoDetails {}
    PromptAnswered { prompt, response }
    PromptSubmitted { prompt, parts }
    ProviderAnswer { provider, model, usage, stop_reason, request_id }
    ProviderFailure { provider, error, attempts }
    ProviderRequest { provider, model, attempt, messages, shared, purpose }
    ProviderRetry { provider, model, attempt, error, pause_ms }
    SessionBegan { kind, label }
    SessionEnded { status }
    SessionForked { parent, kind, label, cut, metadata, reason }
    Thought { block_index, thinking }
    TokenUsage { input, output, cached, cache_written }
    ToolInput { tool_call_id, tool_name, tool_input }
    ToolProgress { tool_call_id, tool_name, step }
    ToolResult { tool_call_id, tool_name, result, is_error }
    ToolStep { done, total, message }
    TurnEnded { orchestrator, status, result }
    TurnUsage { input, output, cached, cost }
}

impl Any for Block {
    fn any(dice: &mut Dice) -> Self {
        if any(dice) { Self::Call(any(dice)) } else { Self::Text { text: any(dice) } }
    }
}

impl Any for TurnResult {
    fn any(dice: &mut Dice) -> Self {
        if any(dice) {
            return Self::Failed { error: any(dice) };
        }
        Self::Ran {
            session_id: any(dice),
            moved_from: any(dice),
            turn_count: any(dice),
            tool_calls: any(dice),
            usage: any(dice),
        }
    }
}

impl Any for Notification {
    fn any(dice: &mut Dice) -> Self {
        let name = dice.one(Name::ALL);
        let is_of_kernel: bool = any(dice);
        let event =
            if is_of_kernel { event(name, dice) } else { KernelEvent::Application(any(dice)) };
        Self::new(any(dice), any(dice), event)
    }
}

/// Returns an event of this name with random data.
pub(crate) fn event(name: Name, dice: &mut Dice) -> KernelEvent {
    macro_rules! of_name {
        ($($name:ident),* $(,)?) => {
            match name {
                $(Name::$name => KernelEvent::$name(any(dice)),)*
                other => panic!("{other} is not in the list"),
            }
        };
    }
    of_name!(
        SessionStart,
        SessionResume,
        SessionFork,
        SessionEnd,
        PromptSubmit,
        PromptComplete,
        ProviderRequest,
        ProviderResponse,
        ProviderRetry,
        ProviderError,
        ContentBlockStart,
        ContentBlockDelta,
        ContentBlockEnd,
        ThinkingDelta,
        ThinkingFinal,
        ToolPre,
        ToolPost,
        ToolError,
        ToolProgress,
        ContextPreCompact,
        ContextPostCompact,
        ContextGauge,
        ApprovalRequired,
        ApprovalGranted,
        ApprovalDenied,
        CancelRequested,
        CancelCompleted,
        DelegateSpawned,
        DelegateResumed,
        DelegateCompleted,
        DelegateError,
        OrchestratorComplete,
        HookError,
    )
}
