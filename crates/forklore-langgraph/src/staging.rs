//! Collects the events of one append: the elements that a history does not have yet, and then what
//! refers to them.

use std::collections::HashMap;

use forklore_api::{Batch, NewEvent};
use forklore_core::limits::{BATCH_BYTES, BATCH_EVENTS};
use forklore_core::{Class, Data, EventId, EventType};
use forklore_engine::{Engine, Pin, Result};
use forklore_store::port::Appended;
use jiff::Timestamp;
use serde::Serialize;

use crate::elements::Text;
use crate::key::Key;
use crate::record::{ATTACHED, AttachedRecord, VALUE, ValueRecord};
use crate::request::ElementInput;
use crate::saver::invalid;
use crate::thread::{Stored, Thread};

/// A longer text is an attachment.
const LONG: usize = 1 << 20;
/// The longest attachment, in bytes.
const ATTACHMENT_BYTES: u64 = 4 << 30;
/// A longer value is an event of its own, so that it is stored once.
const SHORT: usize = 160;
/// How a text refers to an element. Savers write exactly this.
const REFERENCE: &str = r#"{"lg":"@"#;
/// The size of the texts in one event above which further ones are events of their own.
const EMBEDDED: usize = 4 << 20;

/// The events of one append to a line of a thread.
pub(crate) struct Staging<'a> {
    engine: &'a Engine,
    thread: &'a Thread,
    line: usize,
    given: HashMap<Key, &'a ElementInput>,
    events: Vec<NewEvent>,
    /// How many of the events are elements with this key: events of the conversation, and all.
    staged: HashMap<Key, (usize, usize)>,
    pins: Vec<Pin>,
    /// The texts of elements that the last event contains, if it may contain elements.
    embedded: Option<Vec<Data>>,
}

impl<'a> Staging<'a> {
    pub(crate) fn new(
        engine: &'a Engine,
        thread: &'a Thread,
        line: usize,
        elements: &'a [ElementInput],
    ) -> Self {
        let given = elements.iter().map(|it| (Key::of(it.text.get()), it)).collect();
        let (events, staged, pins) = (Vec::new(), HashMap::new(), Vec::new());
        Self { engine, thread, line, given, events, staged, pins, embedded: None }
    }

    /// Lets the last event contain the elements, instead of an event for each. It must be one whose
    /// redaction loses nothing but itself.
    pub(crate) fn embedding(self) -> Self {
        Self { embedded: Some(Vec::new()), ..self }
    }

    /// Returns the texts of the elements that the last event must contain.
    pub(crate) fn embedded(&mut self) -> Vec<Data> {
        self.embedded.take().unwrap_or_default()
    }

    /// Counts the events with an element that the history will have: those of the conversation, and
    /// all.
    fn occurrences(&self, key: Key) -> (usize, usize) {
        let element = self.thread.elements.by_key(key);
        let stored = element.map_or((0, 0), |it| self.thread.occurrences(it, self.line));
        let staged = self.staged.get(&key).copied().unwrap_or_default();
        (stored.0 + staged.0, stored.1 + staged.1)
    }

    /// Ensures that the history has an element.
    pub(crate) fn element(&mut self, key: Key) -> Result<()> {
        if self.occurrences(key).1 > 0 {
            return Ok(());
        }
        match (
            self.given.get(&key),
            self.thread.elements.by_key(key).and_then(|it| it.text.clone()),
        ) {
            (Some(given), _) => self.value(key, &given.text.clone()),
            (None, Some(Text::Event(text))) => self.value(key, &text),
            (None, Some(Text::Attachment(attachment))) => {
                let record = AttachedRecord { key, attachment };
                self.push(key, evidence(ATTACHED, encoded(&record)?)?, false);
                Ok(())
            }
            (None, None) => Err(invalid("element", "the request refers to an unstored element")),
        }
    }

    /// Ensures that the history has an element of a list, which occurs `times` in it so far. If it is
    /// a message, the conversation has an event for each time.
    pub(crate) fn list_element(&mut self, key: Key, times: usize) -> Result<()> {
        let given = self.given.get(&key).map(|it| (it.kind.clone(), it.text.clone()));
        let stored = || {
            let element = self.thread.elements.by_key(key)?;
            match element.text.clone()? {
                Text::Event(text) => Some((element.kind.clone(), text)),
                Text::Attachment(_) => None,
            }
        };
        let Some((Some(kind), text)) = given.or_else(stored) else { return self.element(key) };
        if text.get().len() > LONG {
            return self.element(key);
        }
        while self.occurrences(key).0 < times {
            self.references(&text)?;
            self.push(key, NewEvent::new(kind.clone(), text.clone()), true);
        }
        Ok(())
    }

    /// Returns how an event refers to a value. A value that is not short, or that has text in it,
    /// is an element.
    pub(crate) fn record(&mut self, text: &Data) -> Result<ValueRecord> {
        if is_short(text) {
            self.references(text)?;
            return Ok(ValueRecord { text: Some(text.clone()), ..ValueRecord::default() });
        }
        let key = Key::of(text.get());
        if self.occurrences(key).1 == 0 {
            self.value(key, text)?;
        }
        Ok(ValueRecord { is: Some(key), ..ValueRecord::default() })
    }

    fn value(&mut self, key: Key, text: &Data) -> Result<()> {
        self.references(text)?;
        if let Some(embedded) = &mut self.embedded
            && embedded.iter().map(|it| it.get().len()).sum::<usize>() + text.get().len() < EMBEDDED
        {
            embedded.push(text.clone());
            self.staged.entry(key).or_default().1 += 1;
            return Ok(());
        }
        let (kind, data) = if text.get().len() > LONG {
            let mut bytes = text.get().as_bytes();
            let pin = self.engine.put_attachment(&mut bytes, ATTACHMENT_BYTES)?;
            let record = AttachedRecord { key, attachment: pin.id };
            self.pins.push(pin);
            (ATTACHED, encoded(&record)?)
        } else {
            (VALUE, text.clone())
        };
        self.push(key, evidence(kind, data)?, false);
        Ok(())
    }

    /// Ensures that the history has the elements to which a text refers.
    fn references(&mut self, text: &Data) -> Result<()> {
        for key in references(text.get()) {
            self.element(key)?;
        }
        Ok(())
    }

    fn push(&mut self, key: Key, event: NewEvent, spoken: bool) {
        let staged = self.staged.entry(key).or_default();
        staged.0 += usize::from(spoken);
        staged.1 += 1;
        self.events.push(event);
    }

    /// Ends with the event that refers to the elements.
    pub(crate) fn finish(
        mut self,
        kind: &str,
        record: &impl Serialize,
        name: Option<(EventId, Option<Timestamp>)>,
    ) -> Result<Staged> {
        let mut event = evidence(kind, encoded(record)?)?;
        if let Some((id, ts)) = name {
            event = NewEvent { id: Some(id), ts, ..event };
        }
        self.events.push(event);
        Ok(Staged { events: self.events, line: self.line, pins: self.pins })
    }
}

/// The events of an append.
pub(crate) struct Staged {
    events: Vec<NewEvent>,
    line: usize,
    pins: Vec<Pin>,
}

impl Staged {
    /// Appends the events, and applies them to the thread. It is one append unless there are too
    /// many events for that; the last part then has the event that refers to the others.
    ///
    /// # Errors
    /// `conflict` if another writer was faster, and the errors of an append.
    pub(crate) fn append(self, engine: &Engine, thread: &mut Thread) -> Result<()> {
        let Self { events, line, pins } = self;
        let Some((session, mut head)) =
            thread.lines.get(line).map(|line| (line.session.clone(), line.head))
        else {
            return Err(invalid("line", "the thread has no such session"));
        };
        let mut rest = events.into_iter().peekable();
        while rest.peek().is_some() {
            let (mut part, mut bytes) = (Vec::new(), 0);
            while let Some(event) = rest.next_if(|event| {
                part.is_empty()
                    || (part.len() < BATCH_EVENTS && bytes + event.data.get().len() <= BATCH_BYTES)
            }) {
                bytes += event.data.get().len();
                part.push(event);
            }
            let now = engine.now();
            for event in &mut part {
                event.ts.get_or_insert(now);
            }
            let batch = Batch { events: part, expect: Some(head), owner: None };
            let Appended { from_seq, head_seq, .. } = engine.append(&session, &batch)?;
            for (event, seq) in batch.events.iter().zip(from_seq..) {
                thread.apply(&Stored {
                    line,
                    seq,
                    inherited: false,
                    id: event.id.as_ref().map_or("", EventId::as_str),
                    ts: event.ts.unwrap_or(now),
                    kind: event.kind.as_str(),
                    class: event.class.unwrap_or_else(|| event.kind.class()),
                    data: &event.data,
                });
            }
            head = head_seq;
        }
        drop(pins);
        Ok(())
    }
}

fn evidence(kind: &str, data: Data) -> Result<NewEvent> {
    let kind: EventType = kind.parse().map_err(|_| invalid("type", "the type is not valid"))?;
    Ok(NewEvent { class: Some(Class::Evidence), ..NewEvent::new(kind, data) })
}

pub(crate) fn encoded(record: &impl Serialize) -> Result<Data> {
    Data::of(record).map_err(|error| invalid("record", error.to_string()))
}

/// Returns the keys of the elements to which a text refers.
pub(crate) fn references(text: &str) -> impl Iterator<Item = Key> + '_ {
    let keys = text.split(REFERENCE).skip(1);
    keys.filter_map(|rest| rest.split('"').next()?.parse().ok())
}

/// Checks whether a value is short and has no text, apart from references: such a value need not be
/// redacted.
fn is_short(text: &Data) -> bool {
    fn has_text(value: &serde_json::Value) -> bool {
        match value {
            serde_json::Value::String(_) => true,
            serde_json::Value::Array(items) => items.iter().any(has_text),
            serde_json::Value::Object(fields) => {
                let mark = fields.get("lg").and_then(serde_json::Value::as_str);
                let is_reference = mark.is_some_and(|mark| mark.starts_with('@'));
                !is_reference && fields.values().any(has_text)
            }
            _ => false,
        }
    }
    text.get().len() <= SHORT && text.read().is_ok_and(|value| !has_text(&value))
}
