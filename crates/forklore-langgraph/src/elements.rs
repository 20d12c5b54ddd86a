//! The elements of a thread: the parts of its values, each stored once.

use std::collections::HashMap;

use forklore_core::{AttachmentId, Data, EventType};

use crate::key::Key;

/// Where the text of an element is.
#[derive(Clone, Debug)]
pub(crate) enum Text {
    /// In an event.
    Event(Data),
    /// In an attachment, because it is long.
    Attachment(AttachmentId),
}

/// An event that contains an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// The line of the thread whose log has the event.
    pub(crate) line: usize,
    pub(crate) seq: u64,
    /// Whether the event is one of the conversation.
    pub(crate) spoken: bool,
}

#[derive(Debug)]
pub(crate) struct Element {
    pub(crate) key: Key,
    /// `None` if the thread refers to the element but no event contains it: it was redacted.
    pub(crate) text: Option<Text>,
    /// The type of the event of the conversation that contains it; `None` if there is none.
    pub(crate) kind: Option<EventType>,
    pub(crate) at: Vec<Position>,
}

/// All elements of a thread. Each has a number, which names it in memory.
#[derive(Debug, Default)]
pub(crate) struct Elements {
    all: Vec<Element>,
    numbers: HashMap<Key, u32>,
    bytes: usize,
}

impl Elements {
    /// Returns the number of the element with this key. An element that no event contains yet gets
    /// a number too.
    pub(crate) fn number(&mut self, key: Key) -> u32 {
        *self.numbers.entry(key).or_insert_with(|| {
            self.all.push(Element { key, text: None, kind: None, at: Vec::new() });
            u32::try_from(self.all.len() - 1).unwrap_or(u32::MAX)
        })
    }

    /// Records an event that contains an element.
    pub(crate) fn add(&mut self, key: Key, text: Text, kind: &str, position: Position) {
        let number = self.number(key);
        let Some(element) = self.all.get_mut(number as usize) else { return };
        if element.text.is_none() {
            self.bytes += match &text {
                Text::Event(data) => data.get().len(),
                Text::Attachment(_) => 0,
            };
            element.text = Some(text);
        }
        if position.spoken && element.kind.is_none() {
            element.kind = kind.parse().ok();
        }
        element.at.push(position);
    }

    pub(crate) fn get(&self, number: u32) -> Option<&Element> {
        self.all.get(number as usize)
    }

    pub(crate) fn by_key(&self, key: Key) -> Option<&Element> {
        self.get(*self.numbers.get(&key)?)
    }

    /// Returns the size of all texts in memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}
