//! Reads checkpoints and elements.

use std::fmt::Write as _;
use std::sync::Arc;

use forklore_core::Data;
use forklore_engine::{Error, Result};
use forklore_store::Error as StoreError;

use crate::checkpoint::{Checkpoint, Value, Values, Versions};
use crate::elements::{Element, Text};
use crate::record::ValueRecord;
use crate::request::{Read, ReadElements};
use crate::saver::{Saver, invalid, read};
use crate::sequence::Sequence;
use crate::thread::{TaskWrite, Thread};

/// What the answer has for an element that was redacted.
const GONE: &str = r#"{"lg":"gone"}"#;

impl Saver {
    /// Returns checkpoints of a thread. The answer has the `generation` of the thread and the list
    /// `tuples`, without those that do not exist. The elements of lists are given as runs of numbers,
    /// `[first, count]`; a list that begins like that of the tuple before has `prefix`, the number of
    /// elements that come first. [`elements`](Self::elements) returns what the numbers stand for.
    ///
    /// # Errors
    /// `corrupt` if a checkpoint builds on an event that was redacted, and the errors of a read.
    pub fn get(&self, request: &str) -> Result<String> {
        let request: Read = read(request)?;
        let Some(slot) = self.open(&request.thread)? else {
            return Ok(r#"{"generation":0,"tuples":[]}"#.to_owned());
        };
        let thread = &*slot.thread();
        let wanted: Vec<usize> = match &request.ids {
            Some(ids) => {
                let listed = ids.iter().filter(|id| !thread.removed.contains(id.as_str()));
                listed.filter_map(|id| thread.find(id)).collect()
            }
            None => thread.listed().next().map(|(_, at)| at).into_iter().collect(),
        };
        let mut json = format!(r#"{{"generation":{},"tuples":["#, thread.generation);
        let mut before: Option<&Values> = None;
        for (n, checkpoint) in wanted.iter().filter_map(|at| thread.checkpoint(*at)).enumerate() {
            if n > 0 {
                json.push(',');
            }
            self.write_tuple(&mut json, thread, checkpoint, before)?;
            before = Some(&checkpoint.state.values);
        }
        json.push_str("]}");
        Ok(json)
    }

    fn write_tuple(
        &self,
        json: &mut String,
        thread: &Thread,
        checkpoint: &Checkpoint,
        before: Option<&Values>,
    ) -> Result<()> {
        if checkpoint.damaged {
            return Err(damaged(thread, checkpoint));
        }
        json.push_str(r#"{"id":"#);
        write_text(json, &checkpoint.id);
        if let Some(parent) = &checkpoint.parent {
            json.push_str(r#","parent":"#);
            write_text(json, parent);
        }
        let session = thread.lines.get(checkpoint.line).map_or("", |it| it.session.as_str());
        let _ = write!(json, r#","seq":{},"session":"#, checkpoint.seq);
        write_text(json, session);
        json.push_str(r#","fields":"#);
        write_versions(json, &checkpoint.state.fields);
        json.push_str(r#","metadata":"#);
        write_versions(json, &checkpoint.state.metadata);
        json.push_str(r#","versions":"#);
        write_versions(json, &checkpoint.state.versions);
        json.push_str(r#","seen":"#);
        write_object(json, checkpoint.state.seen.iter(), write_versions);
        json.push_str(r#","values":{"#);
        let mut first = true;
        for (channel, value) in checkpoint.state.values.iter() {
            let mut one = String::new();
            if !self.write_value(&mut one, thread, value, before.and_then(|it| it.get(channel)))? {
                continue;
            }
            if !std::mem::take(&mut first) {
                json.push(',');
            }
            write_text(json, channel);
            json.push(':');
            json.push_str(&one);
        }
        json.push_str(r#"},"writes":"#);
        let writes = thread.writes.get(&checkpoint.id).map_or(&[][..], Vec::as_slice);
        self.write_writes(json, thread, &in_order(writes))?;
        json.push('}');
        Ok(())
    }

    /// Writes a value. Returns false if its element was redacted: then it has no value.
    fn write_value(
        &self,
        json: &mut String,
        thread: &Thread,
        value: &Value,
        before: Option<&Value>,
    ) -> Result<bool> {
        match value {
            Value::Text(text) => {
                let _ = write!(json, r#"{{"text":{}}}"#, text.get());
            }
            Value::Element(number) => {
                let element = thread.elements.get(*number);
                let Some(text) = self.text(element)? else { return Ok(false) };
                let _ = write!(json, r#"{{"text":{}}}"#, text.get());
            }
            Value::List(list) => {
                let prefix = match before {
                    Some(Value::List(before)) => list.common_prefix(before),
                    _ => 0,
                };
                let _ = write!(json, r#"{{"prefix":{prefix},"runs":"#);
                write_runs(json, list, prefix);
                json.push('}');
            }
        }
        Ok(true)
    }

    /// Writes the writes of tasks, without those that were redacted.
    pub(crate) fn write_writes(
        &self,
        json: &mut String,
        thread: &Thread,
        writes: &[&TaskWrite],
    ) -> Result<()> {
        json.push('[');
        let start = json.len();
        for write in writes {
            let Some(text) = self.recorded_text(thread, &write.value)? else { continue };
            if json.len() > start {
                json.push(',');
            }
            json.push('[');
            write_text(json, &write.task);
            json.push(',');
            write_text(json, &write.channel);
            let _ = write!(json, ",{}]", text.get());
        }
        json.push(']');
        Ok(())
    }

    fn recorded_text(&self, thread: &Thread, value: &ValueRecord) -> Result<Option<Data>> {
        match (value.is, &value.text) {
            (Some(key), _) => self.text(thread.elements.by_key(key)),
            (None, text) => Ok(text.clone()),
        }
    }

    /// Writes the value of a channel for its history; `null` if it was redacted.
    pub(crate) fn write_seed(
        &self,
        json: &mut String,
        thread: &Thread,
        value: &Value,
    ) -> Result<()> {
        if !self.write_value(json, thread, value, None)? {
            json.push_str("null");
        }
        Ok(())
    }

    fn text(&self, element: Option<&Element>) -> Result<Option<Data>> {
        match element.and_then(|it| it.text.as_ref()) {
            None => Ok(None),
            Some(Text::Event(text)) => Ok(Some(text.clone())),
            Some(Text::Attachment(id)) => {
                let mut bytes = Vec::new();
                match self.engine.read_attachment(id, &mut bytes) {
                    Err(Error::NoAttachment(_)) => return Ok(None),
                    read => read?,
                };
                let text = String::from_utf8(bytes)
                    .map_err(|_| invalid("attachment", "an element is not UTF-8"))?;
                Ok(Some(Data::from_checked(text)))
            }
        }
    }

    /// Returns the texts of elements, by number and by key, as two lists. A redacted element is
    /// `{"lg":"gone"}`.
    ///
    /// # Errors
    /// `conflict` if the numbers are of another generation, because the thread was dropped from memory
    /// meanwhile: then read the checkpoint again.
    pub fn elements(&self, request: &str) -> Result<String> {
        let request: ReadElements = read(request)?;
        let stale = || StoreError::Stale {
            what: "the thread in memory".into(),
            message: "the numbers are of another generation".to_owned(),
        };
        let slot = self.open(&request.thread)?.ok_or_else(stale)?;
        let thread = &*slot.thread();
        if thread.generation != request.generation && !request.numbers.is_empty() {
            return Err(stale().into());
        }
        let mut json = String::from("[[");
        for (n, number) in request.numbers.iter().enumerate() {
            json.push_str(if n > 0 { "," } else { "" });
            let text = self.text(thread.elements.get(*number))?;
            json.push_str(text.as_ref().map_or(GONE, Data::get));
        }
        json.push_str("],[");
        for (n, key) in request.keys.iter().enumerate() {
            json.push_str(if n > 0 { "," } else { "" });
            let text = self.text(thread.elements.by_key(*key))?;
            json.push_str(text.as_ref().map_or(GONE, Data::get));
        }
        json.push_str("]]");
        Ok(json)
    }
}

/// Returns writes in the order in which LangGraph applies them.
pub(crate) fn in_order(writes: &[TaskWrite]) -> Vec<&TaskWrite> {
    let mut writes: Vec<_> = writes.iter().collect();
    writes.sort_by(|a, b| (&a.path, &a.task, a.index).cmp(&(&b.path, &b.task, b.index)));
    writes
}

pub(crate) fn damaged(thread: &Thread, checkpoint: &Checkpoint) -> Error {
    let session = thread.lines.get(checkpoint.line).map(|line| line.session.clone());
    StoreError::Corrupt {
        session,
        seq: Some(checkpoint.seq),
        location: "a checkpoint of the thread".to_owned(),
        message: "an event on which it builds was redacted".to_owned(),
    }
    .into()
}

pub(crate) fn write_text(json: &mut String, text: &str) {
    json.push_str(&serde_json::Value::from(text).to_string());
}

fn write_versions(json: &mut String, versions: &Versions) {
    write_object(json, versions.iter(), |json, version| json.push_str(version.get()));
}

fn write_object<'a, T: 'a>(
    json: &mut String,
    fields: impl Iterator<Item = (&'a Arc<str>, &'a T)>,
    write: impl Fn(&mut String, &T),
) {
    json.push('{');
    for (n, (name, value)) in fields.enumerate() {
        json.push_str(if n > 0 { "," } else { "" });
        write_text(json, name);
        json.push(':');
        write(json, value);
    }
    json.push('}');
}

/// Writes the numbers of a list from a position on, as runs of successive numbers.
fn write_runs(json: &mut String, list: &Sequence, from: usize) {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in (from..list.len()).filter_map(|at| list.get(at)) {
        match runs.last_mut() {
            Some((first, count)) if *first + *count == number => *count += 1,
            _ => runs.push((number, 1)),
        }
    }
    json.push('[');
    for (n, (first, count)) in runs.iter().enumerate() {
        let _ = write!(json, "{}[{first},{count}]", if n > 0 { "," } else { "" });
    }
    json.push(']');
}
