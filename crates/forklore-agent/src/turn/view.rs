//! The messages of the next request: the engine's view of the session, and what this turn adds,
//! without reading the history again for each call of the model.

use forklore_core::{Content, EventType, Message, Part, Role, SessionId, payload};
use forklore_engine::{ContextUsage, Engine, ModelView, NewEvent};

use crate::cache_key::cache_key;
use crate::config::SessionConfig;
use crate::media::{Attached, Capabilities, Named, named};
use crate::model::{Model, Request};

/// The messages of a session, as far as they were read.
#[derive(Clone, Debug, Default)]
pub(crate) struct View {
    current: Option<Messages>,
    along: Along,
    /// Whether a log is open that follows it.
    followed: bool,
}

#[derive(Clone, Debug)]
struct Messages {
    session: SessionId,
    /// The log position up to which it is current.
    head: i64,
    model: String,
    messages: Vec<Message>,
    shared: usize,
    forks: Vec<usize>,
    pressure: ContextUsage,
}

/// The attachments that the messages name, as the model takes them.
#[derive(Clone, Debug, Default)]
struct Along {
    takes: Capabilities,
    attached: Attached,
    /// How many of the first messages were looked at for them.
    seen: usize,
    /// What was read for other messages or another model.
    before: Attached,
}

/// Attachments that are still to be read.
pub(crate) struct Unread {
    takes: Capabilities,
    attached: Attached,
    before: Attached,
    named: Vec<Named>,
}

impl Unread {
    pub(crate) fn read(self, engine: &Engine) -> Attached {
        self.attached.and(engine, self.named, &self.takes, &self.before)
    }
}

impl View {
    /// A log is opened at `head`. What a turn left behind whose future was dropped counts for
    /// nothing: calls of it may wait for results that nobody brings. Nor does what was current before
    /// somebody else wrote.
    pub(crate) fn begin(&mut self, session: &SessionId, head: i64) {
        let was_followed = std::mem::replace(&mut self.followed, true);
        let current = self.current.as_ref();
        if was_followed || current.is_some_and(|it| it.session != *session || it.head != head) {
            self.current = None;
        }
    }

    /// The log was closed in order.
    pub(crate) fn end(&mut self) {
        self.followed = false;
    }

    /// Whether this is what `model` would receive of the session at `head`.
    pub(crate) fn is_current(&self, session: &SessionId, head: i64, model: &dyn Model) -> bool {
        self.current.as_ref().is_some_and(|current| {
            current.session == *session
                && current.head == head
                && current.model == model.name().model
        })
    }

    pub(crate) fn set(&mut self, view: ModelView, pressure: ContextUsage, model: &dyn Model) {
        let ModelView { header, messages, shared, forks, .. } = view;
        let (head, model) = (header.head_seq(), model.name().model.clone());
        let session = header.id;
        self.along = std::mem::take(&mut self.along).again();
        self.current = Some(Messages { session, head, model, messages, shared, forks, pressure });
    }

    /// The attachments of messages that were not looked at yet.
    pub(crate) fn unread(&mut self, takes: Capabilities) -> Option<Unread> {
        let messages = &self.current.as_ref()?.messages;
        if self.along.takes != takes {
            self.along = Along { takes, ..std::mem::take(&mut self.along).again() };
        }
        let new = messages.get(self.along.seen..).unwrap_or_default();
        let named: Vec<_> = new.iter().flat_map(named).collect();
        if named.is_empty() {
            self.along.seen = messages.len();
            return None;
        }
        let Along { takes, attached, before, .. } = self.along.clone();
        Some(Unread { takes, attached, before, named })
    }

    /// What was read of them.
    pub(crate) fn attach(&mut self, attached: Attached) {
        self.along.seen = self.messages().len();
        self.along.attached = attached;
    }

    /// Follows an append. What changes how earlier messages are read makes it forget.
    pub(crate) fn follow(&mut self, events: &[NewEvent], head: i64) {
        let Some(current) = &mut self.current else { return };
        for event in events {
            let class = event.kind.class();
            let starts_turn = event.kind == EventType::USER_MESSAGE
                && current.messages.last().is_some_and(is_loose);
            let changes =
                starts_turn || event.kind == EventType::HISTORY_COMPACTION || has_result(event);
            if changes {
                self.current = None;
                return;
            }
            if event.kind == EventType::PROVIDER_USAGE && !has_purpose(event) {
                let usage = payload::usage(&event.data);
                let tokens = usage.tokens();
                if tokens > 0 {
                    current.pressure = ContextUsage { tokens, estimated: 0 };
                }
            }
            if class.is_conversation()
                && let Ok(Some(message)) = payload::message(&event.kind, &event.data)
            {
                current.pressure = current.pressure.and_bytes(event.data.get().len() as u64);
                current.messages.push(message);
            }
        }
        current.head = head;
    }

    /// The same messages in a fork that took everything over.
    pub(crate) fn move_to(&mut self, session: &SessionId, head: i64) {
        if let Some(current) = &mut self.current {
            current.session = session.clone();
            current.head = head;
        }
    }

    /// How full the context is, where current.
    pub(crate) fn pressure(&self) -> Option<ContextUsage> {
        self.current.as_ref().map(|current| current.pressure)
    }

    /// How long the messages are.
    pub(crate) fn bytes(&self) -> usize {
        let len = |message| serde_json::to_string(message).map_or(0, |text| text.len());
        self.messages().iter().map(len).sum()
    }

    pub(crate) fn messages(&self) -> &[Message] {
        self.current.as_ref().map_or(&[], |current| &current.messages)
    }

    /// What the model is to be asked.
    pub(crate) fn request(&self, root: &SessionId, config: &SessionConfig) -> Request {
        Request {
            messages: self.messages().to_vec(),
            attached: self.along.attached.clone(),
            shared: self.current.as_ref().map_or(0, |current| current.shared),
            forks: self.current.as_ref().map(|current| current.forks.clone()).unwrap_or_default(),
            tools: config.specs(),
            cache_key: cache_key(root),
            options: config.settings.options.clone(),
        }
    }
}

impl Along {
    /// Starts again at the first message. What was read stays available.
    fn again(self) -> Self {
        let before = if self.seen > 0 { self.attached } else { self.before };
        Self { takes: self.takes, before, ..Self::default() }
    }
}

/// Whether the event has a sub-agent's result, which the model receives.
fn has_result(event: &NewEvent) -> bool {
    #[derive(serde::Deserialize)]
    struct Ended {
        #[serde(default)]
        result: Option<serde::de::IgnoredAny>,
    }
    event.kind == EventType::SUBAGENT_EVENT
        && event.data.read::<Ended>().is_ok_and(|ended| ended.result.is_some())
}

/// Whether a call of the model was for something else than the conversation.
fn has_purpose(event: &NewEvent) -> bool {
    #[derive(serde::Deserialize)]
    struct Purpose {
        #[serde(default)]
        purpose: Option<serde::de::IgnoredAny>,
    }
    event.data.read::<Purpose>().is_ok_and(|usage| usage.purpose.is_some())
}

/// Whether a user message behind it changes how it is sent: calls without a result are answered,
/// reasoning that nothing follows is left out.
fn is_loose(message: &Message) -> bool {
    let loose = |part: &Part| matches!(part, Part::ToolCall { .. } | Part::Reasoning { .. });
    match &message.content {
        Content::Text(_) => false,
        Content::Parts(parts) => message.role == Role::Assistant && parts.iter().any(loose),
    }
}
