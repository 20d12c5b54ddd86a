//! From events to the messages of a request, before calls are paired: compactions applied,
//! summaries and finished sub-agents included, what the model does not see left out.

use std::collections::BTreeMap;

use forklore_model::dialect::Covers;
use forklore_model::{Class, Content, Data, Event, EventType, Message, Part, Role};
use forklore_store::port::Stored;
use serde::Deserialize;
use serde_json::Value;

use crate::Engine;
use crate::view::{compacted_range, compaction_messages};

/// The messages so far.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) items: Vec<Item>,
    pub(super) excluded: BTreeMap<String, u64>,
    /// The model named last: reasoning of another one is not sent to it.
    pub(super) model: Option<String>,
}

/// A message with its place.
#[derive(Debug)]
pub(super) struct Item {
    /// Its index; none for what stands between conversation events.
    index: Option<u64>,
    /// The event's native id, which compactions of some agents refer to.
    id: String,
    /// Whether a turn begins here.
    pub(super) starts_turn: bool,
    /// Whether nothing is left of it.
    pub(super) emptied: bool,
    pub(super) message: Message,
}

impl Draft {
    pub(super) fn add(&mut self, engine: &Engine, stored: Stored) {
        let Stored { counts, event, .. } = stored;
        self.note_model(&event);
        let index = event.class.is_conversation().then(|| counts.index.saturating_sub(1));
        let shown = match event.class {
            Class::Conversation => vec![engine.message(&event)],
            Class::Context if event.kind == EventType::HISTORY_COMPACTION => {
                self.compact(engine, &event, counts.index);
                return;
            }
            Class::Context => summary(engine, &event),
            Class::Evidence => finished_subagent(&event.data).into_iter().collect(),
            Class::Lineage | Class::Audit => Vec::new(),
        };
        if shown.is_empty() {
            self.exclude(event.kind.as_str());
        }
        for message in shown {
            let id = event.id.as_str().to_owned();
            let starts_turn = event.effect.starts_turn;
            self.items.push(Item { index, id, starts_turn, emptied: false, message });
        }
    }

    pub(super) fn exclude(&mut self, kind: &str) {
        *self.excluded.entry(kind.to_owned()).or_default() += 1;
    }

    /// Puts a compaction in place of the messages it covers.
    fn compact(&mut self, engine: &Engine, event: &Event, index: u64) {
        let (covered, instead) = match &event.dialect {
            None => (compacted_range(&event.data), compaction_messages(&event.data)),
            Some(name) => {
                let dialect = engine.dialects().named(name);
                let covers = dialect.and_then(|dialect| dialect.compaction(&event.data));
                let range = covers.map(|covers| match covers {
                    Covers::AllBefore => 0..index,
                    Covers::Before(id) => 0..self.index_of(&id).unwrap_or(index),
                });
                (range, vec![engine.message(event)])
            }
        };
        let Some(covered) = covered else { return self.exclude(event.kind.as_str()) };
        let is_covered = |item: &Item| item.index.is_some_and(|at| covered.contains(&at));
        let place =
            self.items.iter().position(|item| is_covered(item) || item.index >= Some(covered.end));
        let place = place.unwrap_or(self.items.len());
        let items = std::mem::take(&mut self.items);
        for (at, item) in items.into_iter().enumerate() {
            if at == place {
                self.put_instead(event, &instead, covered.start);
            }
            if is_covered(&item) {
                self.exclude(kind_of(&item.message));
            } else {
                self.items.push(item);
            }
        }
        if place >= self.items.len() && !self.items.iter().any(|item| item.id == event.id.as_str())
        {
            self.put_instead(event, &instead, covered.start);
        }
    }

    fn put_instead(&mut self, event: &Event, instead: &[Message], index: u64) {
        for message in instead {
            let id = event.id.as_str().to_owned();
            let message = message.clone();
            self.items.push(Item {
                index: Some(index),
                id,
                starts_turn: false,
                emptied: false,
                message,
            });
        }
    }

    fn index_of(&self, id: &str) -> Option<u64> {
        self.items.iter().rev().find(|item| item.id == id).and_then(|item| item.index)
    }

    fn note_model(&mut self, event: &Event) {
        #[derive(Deserialize)]
        struct Named {
            model: Option<String>,
        }
        let names_one =
            event.kind == EventType::REASONING || event.kind == EventType::PROVIDER_USAGE;
        if names_one && let Ok(Named { model: Some(model) }) = event.data.read() {
            self.model = Some(model);
        }
    }
}

/// What an excluded message counts as.
fn kind_of(message: &Message) -> &'static str {
    match message.role {
        Role::System => "system_message",
        Role::User => "user_message",
        Role::Assistant => "assistant_message",
        Role::Tool => "tool_result",
    }
}

/// A summary as interpretive context at its place.
fn summary(engine: &Engine, event: &Event) -> Vec<Message> {
    if event.kind != EventType::BRANCH_SUMMARY {
        return Vec::new();
    }
    if event.dialect.is_some() {
        return vec![engine.message(event)];
    }
    #[derive(Deserialize)]
    struct Summary {
        summary: Value,
    }
    let text = match event.data.read::<Summary>() {
        Ok(Summary { summary: Value::String(text) }) => text,
        Ok(Summary { summary }) => summary.to_string(),
        Err(_) => return Vec::new(),
    };
    vec![Message::text(Role::User, format!("[Summary of the history above]\n{text}"))]
}

/// The result of a sub-agent that has finished.
fn finished_subagent(data: &Data) -> Option<Message> {
    #[derive(Deserialize)]
    struct Subagent {
        session_id: String,
        status: String,
        result: Option<Data>,
    }
    let subagent: Subagent = data.read().ok()?;
    let result = subagent.result.filter(|_| subagent.status == "finished")?;
    let text = result.read::<String>().unwrap_or_else(|_| result.get().to_owned());
    let text = format!("[Result of sub-agent {}]\n{text}", subagent.session_id);
    Some(Message { role: Role::User, content: Content::Parts(vec![Part::Text { text }]) })
}
