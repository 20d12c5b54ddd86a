//! The messages of the next request: the engine's view of the session, plus the messages that this
//! turn adds. The history need not be read again for each model call.

use forklore_core::{Content, EventType, Message, Part, Role, SessionId, payload};
use forklore_engine::{ContextUsage, Engine, ModelView, NewEvent};

use crate::cache_key::cache_key;
use crate::config::SessionConfig;
use crate::media::{Attached, Capabilities, Named, named};
use crate::model::{Model, Request};

/// The messages of a session that a model would receive. The view is read once and then updated
/// with each append.
#[derive(Clone, Debug, Default)]
pub(crate) struct View {
    current: Option<Messages>,
    along: Along,
    /// Whether the view belongs to an open log. An open log updates the view with each append.
    followed: bool,
}

#[derive(Clone, Debug)]
struct Messages {
    session: SessionId,
    /// The seq of the last event that the messages include; -1 for an empty log.
    head: i64,
    model: String,
    messages: Vec<Message>,
    shared: usize,
    forks: Vec<usize>,
    pressure: ContextUsage,
}

/// The attachments that the messages reference, in the form that the model accepts.
#[derive(Clone, Debug, Default)]
struct Along {
    takes: Capabilities,
    attached: Attached,
    /// The number of leading messages of the view whose attachments were read.
    seen: usize,
    /// Attachments that were read earlier, for other messages or for another model.
    before: Attached,
}

/// The attachments of a view that are still to be read, with the data needed to read them.
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
    /// Connects the view to a session's log, which is opened at `head`. Discards the old messages
    /// in two cases. First, the future of the previous turn was dropped: its calls may wait for
    /// results that will never arrive. Second, another runtime wrote to the session since the
    /// messages were read.
    pub(crate) fn begin(&mut self, session: &SessionId, head: i64) {
        let was_followed = std::mem::replace(&mut self.followed, true);
        let current = self.current.as_ref();
        if was_followed || current.is_some_and(|it| it.session != *session || it.head != head) {
            self.current = None;
        }
    }

    /// Records that the turn ended and its log was closed.
    pub(crate) fn end(&mut self) {
        self.followed = false;
    }

    /// Checks whether the view has exactly the messages that `model` would receive if the log of
    /// `session` ends at `head`.
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

    /// Returns the attachments of new messages, which must still be read. Returns `None` if the new
    /// messages reference no attachments.
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

    /// Stores the attachments that were read. They cover all messages so far.
    pub(crate) fn attach(&mut self, attached: Attached) {
        self.along.seen = self.messages().len();
        self.along.attached = attached;
    }

    /// Updates the view after `events` were appended to the log. Discards the view's messages if
    /// one of the events changes how earlier messages are sent.
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

    /// Assigns the view to a fork of its session. The fork has the same messages.
    pub(crate) fn move_to(&mut self, session: &SessionId, head: i64) {
        if let Some(current) = &mut self.current {
            current.session = session.clone();
            current.head = head;
        }
    }

    /// Removes the reasoning from the messages. Returns how many blocks were removed. Each message
    /// stays at its position, even if it has no other part.
    pub(crate) fn drop_reasoning(&mut self) -> usize {
        let messages = self.current.iter_mut().flat_map(|current| &mut current.messages);
        let dropped = messages.map(|message| match &mut message.content {
            Content::Text(_) => 0,
            Content::Parts(parts) => {
                let before = parts.len();
                parts.retain(|part| !matches!(part, Part::Reasoning { .. }));
                before - parts.len()
            }
        });
        dropped.sum()
    }

    /// Returns how many tokens the next request contains at least, or `None` if the view has no
    /// messages.
    pub(crate) fn pressure(&self) -> Option<ContextUsage> {
        self.current.as_ref().map(|current| current.pressure)
    }

    /// Returns the total length of the view's messages in bytes of JSON.
    pub(crate) fn bytes(&self) -> usize {
        let len = |message| serde_json::to_string(message).map_or(0, |text| text.len());
        self.messages().iter().map(len).sum()
    }

    pub(crate) fn messages(&self) -> &[Message] {
        self.current.as_ref().map_or(&[], |current| &current.messages)
    }

    /// Returns the next request to the model.
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
    /// Resets to 0 the number of messages whose attachments were read. Attachments that were
    /// already read can be reused.
    fn again(self) -> Self {
        let before = if self.seen > 0 { self.attached } else { self.before };
        Self { takes: self.takes, before, ..Self::default() }
    }
}

/// Checks whether the event contains a sub-agent's result that the model receives.
fn has_result(event: &NewEvent) -> bool {
    #[derive(serde::Deserialize)]
    struct Ended {
        #[serde(default)]
        result: Option<serde::de::IgnoredAny>,
    }
    event.kind == EventType::SUBAGENT_EVENT
        && event.data.read::<Ended>().is_ok_and(|ended| ended.result.is_some())
}

/// Checks whether this usage event belongs to a model call outside the conversation, such as a
/// summary.
fn has_purpose(event: &NewEvent) -> bool {
    #[derive(serde::Deserialize)]
    struct Purpose {
        #[serde(default)]
        purpose: Option<serde::de::IgnoredAny>,
    }
    event.data.read::<Purpose>().is_ok_and(|usage| usage.purpose.is_some())
}

/// Checks whether this message may be sent in another form once a user message follows it. This is
/// so for an answer with tool calls or reasoning: open calls then get synthetic results, and
/// reasoning without an answer is omitted.
fn is_loose(message: &Message) -> bool {
    let loose = |part: &Part| matches!(part, Part::ToolCall { .. } | Part::Reasoning { .. });
    match &message.content {
        Content::Text(_) => false,
        Content::Parts(parts) => message.role == Role::Assistant && parts.iter().any(loose),
    }
}
