//! Converts notifications to spans: tracks the open spans and determines the parent of each new
//! span.

mod attributes;
mod session;

use std::collections::HashMap;
use std::time::SystemTime;

use forklore_agent::notify::event::{
    DelegateStarted, ForkReason, PromptSubmitted, ProviderRequest, SessionForked, ToolInput,
};
use forklore_agent::notify::{KernelEvent, Notification};
use forklore_core::{SessionId, SessionKind};
use opentelemetry::Context;
use opentelemetry::trace::{Link, SpanBuilder, SpanContext, SpanKind, TraceContextExt};
use opentelemetry_sdk::trace::{SdkTracer, Span};

use attributes::Attributes;
use session::{Origin, Session};

/// The open OpenTelemetry spans of all sessions, and the tracer that starts new spans.
pub(crate) struct Sessions {
    tracer: SdkTracer,
    agent: String,
    content: bool,
    sessions: HashMap<SessionId, Session>,
}

impl Sessions {
    pub(crate) fn new(tracer: SdkTracer, agent: &str, content: bool) -> Self {
        Self { tracer, agent: agent.to_owned(), content, sessions: HashMap::new() }
    }

    /// Starts, changes or ends spans according to a notification (an event of a session). The
    /// caller omits ephemeral notifications, which report only progress.
    pub(crate) fn take(&mut self, notification: &Notification) {
        let at = SystemTime::from(notification.ts);
        match &notification.event {
            KernelEvent::SessionFork(forked) => self.forked(notification, forked),
            KernelEvent::DelegateSpawned(delegate) => self.spawned(notification, delegate),
            KernelEvent::PromptSubmit(prompt) => self.begin_turn(notification, Some(prompt), at),
            KernelEvent::ProviderRequest(request) => self.begin_chat(notification, request, at),
            KernelEvent::ToolPre(call) => self.begin_tool(notification, call, at),
            KernelEvent::ContextPreCompact(_) => self.begin_compaction(notification, at),
            _ => {
                if let Some(session) = self.sessions.get_mut(&notification.session_id) {
                    session.take(notification, at, self.content);
                }
            }
        }
    }

    /// Ends the open spans of all sessions.
    pub(crate) fn end(&mut self) {
        let now = SystemTime::now();
        self.sessions.values_mut().for_each(|session| session.close(now));
    }

    /// Starts to track a session that was forked from another. The first turn of a branch will link
    /// to the span of the parent session's running or last turn. If the fork was created because
    /// another runtime acquired the parent's lease during a turn, the fork takes over the parent's
    /// open spans.
    fn forked(&mut self, notification: &Notification, forked: &SessionForked) {
        let parent = notification.parent_id.as_ref().and_then(|id| self.sessions.get_mut(id));
        let moved = forked.reason == Some(ForkReason::LeaseLost);
        let session = match parent {
            Some(parent) if moved => std::mem::take(parent),
            Some(parent) if forked.kind == SessionKind::Branch => {
                Session { origin: parent.context().map(Origin::Fork), ..Session::default() }
            }
            _ => Session::default(),
        };
        self.sessions.insert(notification.session_id.clone(), session);
    }

    /// Starts to track a sub-agent's session. The span of its first turn will be a child of the
    /// span of the tool call that started the sub-agent. If no open call did, it will be a child of
    /// the span of the parent session's running or last turn.
    fn spawned(&mut self, notification: &Notification, delegate: &DelegateStarted) {
        let call = delegate.tool_call_id.clone();
        let session = self.sessions.entry(delegate.sub_session_id.clone()).or_default();
        session.agent.clone_from(&delegate.agent);
        session.origin = Some(Origin::Call { parent: notification.session_id.clone(), call });
    }

    fn begin_turn(
        &mut self,
        notification: &Notification,
        prompt: Option<&PromptSubmitted>,
        at: SystemTime,
    ) {
        let content = self.content;
        let mut attributes = self.of_session(notification, "invoke_agent");
        if content && let Some(prompt) = prompt {
            attributes.message("gen_ai.input.messages", "user", &prompt.prompt);
        }
        let session = self.sessions.entry(notification.session_id.clone()).or_default();
        session.close(at);
        let agent = session.agent.clone().unwrap_or_else(|| self.agent.clone());
        attributes.text("gen_ai.agent.name", &agent);
        let mut builder = SpanBuilder::from_name(format!("invoke_agent {agent}"));
        let above = match session.origin.take() {
            Some(Origin::Fork(parent)) => {
                builder = builder.with_links(vec![Link::with_context(parent)]);
                None
            }
            Some(Origin::Call { parent, call }) => {
                let parent = self.sessions.get(&parent);
                parent.and_then(|parent| parent.context_of(call.as_deref()))
            }
            None => None,
        };
        let builder = builder.with_kind(SpanKind::Internal).with_attributes(attributes.0);
        let span = self.span(builder.with_start_time(at), above);
        self.sessions.entry(notification.session_id.clone()).or_default().turn = Some(span);
    }

    /// Returns the span context of the session's running turn. Starts the turn's span if it has
    /// none yet. A resumed turn submits no prompt, so its span begins with its first model or tool
    /// call.
    fn turn(&mut self, notification: &Notification, at: SystemTime) -> Option<SpanContext> {
        let runs = self
            .sessions
            .get(&notification.session_id)
            .is_some_and(|session| session.turn.is_some());
        if !runs {
            self.begin_turn(notification, None, at);
        }
        self.sessions.get(&notification.session_id)?.context()
    }

    fn begin_chat(
        &mut self,
        notification: &Notification,
        request: &ProviderRequest,
        at: SystemTime,
    ) {
        let turn = self.turn(notification, at);
        let mut attributes = self.of_session(notification, "chat");
        attributes.text("gen_ai.provider.name", &request.provider);
        attributes.text("gen_ai.request.model", &request.model);
        let builder = SpanBuilder::from_name(format!("chat {}", request.model))
            .with_kind(SpanKind::Client)
            .with_start_time(at)
            .with_attributes(attributes.0);
        let span = self.span(builder, turn);
        if let Some(session) = self.sessions.get_mut(&notification.session_id) {
            session.end_chat(at);
            session.chat = Some(span);
        }
    }

    fn begin_tool(&mut self, notification: &Notification, input: &ToolInput, at: SystemTime) {
        let turn = self.turn(notification, at);
        let (name, call) = (input.tool_name.as_str(), input.tool_call_id.as_str());
        let mut attributes = self.of_session(notification, "execute_tool");
        attributes.text("gen_ai.tool.name", name);
        attributes.text("gen_ai.tool.type", "function");
        attributes.text("gen_ai.tool.call.id", call);
        if self.content {
            attributes.text("gen_ai.tool.call.arguments", &input.tool_input.to_string());
        }
        let builder = SpanBuilder::from_name(format!("execute_tool {name}"))
            .with_kind(SpanKind::Internal)
            .with_start_time(at)
            .with_attributes(attributes.0);
        let span = self.span(builder, turn);
        if let Some(session) = self.sessions.get_mut(&notification.session_id) {
            session.tools.insert(call.to_owned(), span);
        }
    }

    /// Starts a span, in a trace of its own, for a compaction (summary of the history) between
    /// turns. A compaction during a turn gets no span.
    fn begin_compaction(&mut self, notification: &Notification, at: SystemTime) {
        let runs = self
            .sessions
            .get(&notification.session_id)
            .is_some_and(|session| session.turn.is_some());
        if runs {
            return;
        }
        let attributes = self.of_session(notification, "compact");
        let builder = SpanBuilder::from_name("compact")
            .with_kind(SpanKind::Internal)
            .with_start_time(at)
            .with_attributes(attributes.0);
        let span = self.span(builder, None);
        let session = self.sessions.entry(notification.session_id.clone()).or_default();
        session.turn = Some(span);
        session.is_compaction = true;
    }

    fn span(&self, builder: SpanBuilder, above: Option<SpanContext>) -> Span {
        let context = Context::new();
        let context = match above {
            Some(above) => context.with_remote_span_context(above),
            None => context,
        };
        builder.start_with_context(&self.tracer, &context)
    }

    /// Builds the attributes that every span of a session has. `operation` is the value of the
    /// attribute `gen_ai.operation.name`.
    fn of_session(&self, notification: &Notification, operation: &str) -> Attributes {
        let mut attributes = Attributes::default();
        attributes.text("gen_ai.operation.name", operation);
        attributes.text("gen_ai.conversation.id", notification.session_id.as_str());
        if let Some(parent) = &notification.parent_id {
            attributes.text("forklore.session.parent_id", parent.as_str());
        }
        attributes.text("forklore.session.root_id", notification.root_id.as_str());
        attributes
    }
}
