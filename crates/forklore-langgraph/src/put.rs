//! Stores a checkpoint.

use std::collections::{BTreeMap, HashMap};

use forklore_api::Fork;
use forklore_core::{Selector, ToolCallPolicy};
use forklore_engine::{Error, Result};
use forklore_store::Error as StoreError;
use jiff::Timestamp;

use crate::apply::{TIME, as_written};
use crate::checkpoint::{State, Value, Values, VersionsChange};
use crate::key::Key;
use crate::open::{derived, is_gone, metadata, title};
use crate::record::{CHECKPOINT, CheckpointRecord, Part, ValueRecord};
use crate::request::{ListInput, Put};
use crate::saver::{Saver, invalid, read};
use crate::sequence::{Piece, Sequence};
use crate::staging::{Staged, Staging};
use crate::thread::Thread;

/// How often a write is tried while other writers are faster.
pub(crate) const TRIES: usize = 64;

/// What a put came to.
enum Step {
    Stored,
    /// The request must give the values of these channels.
    Needs(Vec<String>),
}

impl Saver {
    /// Stores a checkpoint. The answer is an object. If it has `needs`, nothing was stored: the list
    /// names the channels whose values the request says are those of the parent although they are not
    /// stored with it, or whose lists build on one that is not there.
    ///
    /// A checkpoint with the id of an earlier one replaces it.
    ///
    /// # Errors
    /// `invalid_args` if the request is not valid, `busy` if a runtime has leased the session, and the
    /// errors of an append. After an error, the thread has no checkpoint of this id, but may have
    /// elements of it.
    pub fn put(&self, request: &str) -> Result<String> {
        let request: Put = read(request)?;
        for _ in 0..TRIES {
            match self.try_put(&request) {
                Ok(Step::Stored) => return Ok("{}".to_owned()),
                Ok(Step::Needs(channels)) => {
                    return Ok(serde_json::json!({ "needs": channels }).to_string());
                }
                Err(error) if is_lost_race(&error) => {
                    if is_gone(&error) {
                        self.forget(&request.thread);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Err(Error::Store(StoreError::Locked("other writers were always faster".to_owned())))
    }

    fn try_put(&self, request: &Put) -> Result<Step> {
        let slot = match self.open(&request.thread)? {
            Some(slot) => slot,
            None => {
                self.ensure_first(&request.thread)?;
                self.open(&request.thread)?
                    .ok_or_else(|| invalid("thread", "the thread is gone"))?
            }
        };
        let thread = &mut *slot.thread();
        let parent = request.parent.as_deref().and_then(|id| thread.find(id));
        let base = parent.and_then(|at| thread.checkpoint(at)).map(|it| it.state.clone());
        let base = base.unwrap_or_default();
        let values = match resolved(thread, request, &base) {
            Ok(values) => values,
            Err(needs) => return Ok(Step::Needs(needs)),
        };
        let line = self.destination(thread, parent, &request.id)?;
        let implied = thread.lines.get(line).and_then(|line| line.last);
        let staged = self.stage(
            thread,
            request,
            &base,
            &values,
            line,
            parent.is_some() && parent == implied,
        )?;
        staged.append(&self.engine, thread)?;
        slot.weigh(thread);
        Ok(Step::Stored)
    }

    /// Returns the line to which the checkpoint is appended: the one that ends with its parent, or
    /// else a new fork at the parent.
    fn destination(&self, thread: &mut Thread, parent: Option<usize>, id: &str) -> Result<usize> {
        let (from, at) = match parent.map(|at| (thread.line_ending_with(at), thread.checkpoint(at)))
        {
            Some((Some(line), _)) => return Ok(line),
            Some((None, Some(parent))) => {
                (parent.line, Selector::Seq(i64::try_from(parent.seq).unwrap_or(i64::MAX)))
            }
            _ if thread.lines.first().is_some_and(|first| first.last.is_none()) => return Ok(0),
            _ => (0, Selector::Start),
        };
        let Some(session) = thread.lines.get(from).map(|line| line.session.clone()) else {
            return Err(invalid("line", "the thread has no session"));
        };
        let name = &thread.name;
        let child = derived(&[session.as_str(), &at.to_string(), id, &name.namespace])?;
        let fork = Fork {
            id: Some(child),
            title: Some(title(name)),
            tool_calls: ToolCallPolicy::Verbatim,
            metadata: Some(metadata(name)?),
            ..Fork::of(session).at(at)
        };
        let forked = self.engine.fork_or_copy(&fork)?;
        let header = self.engine.show(&forked.child_session_id)?;
        self.route(&header.id, &thread.name);
        match thread.line_of(&header.id) {
            Some(line) => Ok(line),
            None => self.read_line(thread, &header),
        }
    }

    fn stage(
        &self,
        thread: &Thread,
        request: &Put,
        base: &State,
        values: &Values,
        line: usize,
        parent_is_implied: bool,
    ) -> Result<Staged> {
        let mut staging = Staging::new(&self.engine, thread, line, &request.elements);
        let mut records = BTreeMap::new();
        for (channel, value) in values {
            let old = base.values.get(channel);
            if let Some(record) = value_record(thread, &mut staging, value, old)? {
                records.insert(channel.to_string(), record);
            }
        }
        let gone = base.values.keys().filter(|channel| !values.contains_key(*channel));
        let versions = VersionsChange::between(&base.versions, &request.versions);
        let (seen, unseen) = seen_change(base, request);
        let mut fields = VersionsChange::between(&base.fields, &request.fields);
        fields.removed.retain(|name| name != TIME);
        let ts = time_of(request).filter(|ts| *ts <= self.engine.now());
        if ts.is_some() {
            fields.set.remove(TIME);
        } else if let Some(time) = request.fields.get(TIME) {
            fields.set.insert(TIME.to_owned(), time.clone());
        }
        let metadata = VersionsChange::between(&base.metadata, &request.metadata);
        let mut record = CheckpointRecord {
            parent: request.parent.clone().filter(|_| !parent_is_implied),
            root: request.parent.is_none(),
            fields: fields.set,
            fieldless: fields.removed,
            metadata: metadata.set,
            unmarked: metadata.removed,
            version: None,
            versions: versions.set,
            unversioned: versions.removed,
            seen,
            unseen,
            values: records,
            gone: gone.map(ToString::to_string).collect(),
        };
        record.share_version();
        let id =
            request.id.parse().map_err(|source| Error::Name { what: "checkpoint id", source })?;
        staging.finish(CHECKPOINT, &record, Some((id, ts)))
    }
}

/// Returns the time of a checkpoint, if the time of an event says exactly the same.
fn time_of(request: &Put) -> Option<Timestamp> {
    let written = request.fields.get(TIME)?;
    let time = forklore_core::event::to_micros(written.read::<String>().ok()?.parse().ok()?);
    (as_written(time) == *written).then_some(time)
}

/// Checks whether another attempt may succeed, because another writer was faster.
pub(crate) fn is_lost_race(error: &Error) -> bool {
    matches!(error, Error::Store(StoreError::Conflict { .. })) || is_gone(error)
}

/// Determines the values of the checkpoint. The error is the channels whose values are unknown.
fn resolved(thread: &mut Thread, request: &Put, base: &State) -> Result<Values, Vec<String>> {
    let (mut values, mut needs) = (Values::new(), Vec::new());
    for (channel, input) in &request.values {
        let value = match (&input.list, &input.text) {
            (Some(list), _) => list_value(thread, channel, list),
            (None, Some(text)) => Some(Value::Text(text.clone())),
            (None, None) => {
                let old = base.versions.get(channel.as_str());
                let is_same = old.is_some() && old == request.versions.get(channel);
                base.values.get(channel.as_str()).filter(|_| is_same).cloned()
            }
        };
        match value {
            Some(value) => drop(values.insert(channel.as_str().into(), value)),
            None => needs.push(channel.clone()),
        }
    }
    if needs.is_empty() { Ok(values) } else { Err(needs) }
}

fn list_value(thread: &mut Thread, channel: &str, input: &ListInput) -> Option<Value> {
    let mut list = match &input.base {
        None => Sequence::default(),
        Some((id, len)) => {
            let checkpoint = thread.find(id).and_then(|at| thread.checkpoint(at))?;
            match checkpoint.state.values.get(channel) {
                Some(Value::List(list)) if !checkpoint.damaged && *len <= list.len() => {
                    list.prefix(*len)
                }
                _ => return None,
            }
        }
    };
    for key in &input.add {
        list.push(thread.elements.number(*key));
    }
    Some(Value::List(list))
}

/// Returns how the event states a value; `None` if it is that of the parent.
fn value_record(
    thread: &Thread,
    staging: &mut Staging<'_>,
    value: &Value,
    old: Option<&Value>,
) -> Result<Option<ValueRecord>> {
    match value {
        Value::Text(text) => {
            let record = staging.record(text)?;
            let is_same = match old {
                Some(Value::Text(old)) => record.text.as_ref() == Some(old),
                Some(Value::Element(old)) => {
                    record.is.is_some() && thread.elements.get(*old).map(|it| it.key) == record.is
                }
                _ => false,
            };
            Ok((!is_same).then_some(record))
        }
        Value::Element(number) => {
            let is_same = matches!(old, Some(Value::Element(old)) if old == number);
            let key = thread.elements.get(*number).map(|it| it.key);
            Ok(key
                .filter(|_| !is_same)
                .map(|key| ValueRecord { is: Some(key), ..ValueRecord::default() }))
        }
        Value::List(list) => {
            let empty = Sequence::default();
            let old = match old {
                Some(Value::List(old)) => Some(old),
                _ => None,
            };
            let pieces = list.pieces_of(old.unwrap_or(&empty));
            stage_added(staging, thread, list, old)?;
            let whole = old.map(|old| Piece::Range(0, old.len()));
            let is_same = old.is_some_and(|old| match pieces.as_slice() {
                [] => old.len() == 0,
                [one] => Some(*one) == whole,
                _ => false,
            });
            let part = |piece| match piece {
                Piece::Range(from, to) => Some(Part::Range(from, to)),
                Piece::One(number) => Some(Part::One(thread.elements.get(number)?.key)),
            };
            let parts: Vec<Part> = pieces.into_iter().filter_map(part).collect();
            let record = match parts.as_slice() {
                [Part::Range(0, to), rest @ ..] if old.is_some_and(|old| *to == old.len()) => {
                    ValueRecord { add: keys(rest), ..ValueRecord::default() }
                }
                _ => ValueRecord::default(),
            };
            let list = record.add.is_none().then_some(parts);
            Ok((!is_same).then_some(ValueRecord { list, ..record }))
        }
    }
}

/// Returns the keys of parts, if all of them are elements.
fn keys(parts: &[Part]) -> Option<Vec<Key>> {
    let key = |part: &Part| match part {
        Part::One(key) => Some(*key),
        Part::Range(..) => None,
    };
    parts.iter().map(key).collect()
}

/// Ensures that the history has the elements of a list which the parent's list does not have.
fn stage_added(
    staging: &mut Staging<'_>,
    thread: &Thread,
    list: &Sequence,
    old: Option<&Sequence>,
) -> Result<()> {
    let shared = old.map_or(0, |old| list.common_prefix(old));
    let added: Vec<u32> = (shared..list.len()).filter_map(|at| list.get(at)).collect();
    let mut counts: HashMap<u32, usize> = HashMap::new();
    let mut sorted = added.clone();
    sorted.sort_unstable();
    let before = list.iter().take(shared).filter(|it| sorted.binary_search(it).is_ok());
    before.for_each(|number| *counts.entry(number).or_default() += 1);
    for number in added {
        let times = counts.entry(number).or_default();
        *times += 1;
        if let Some(element) = thread.elements.get(number) {
            staging.list_element(element.key, *times)?;
        }
    }
    Ok(())
}

type SeenChange = (BTreeMap<String, BTreeMap<String, forklore_core::Data>>, Vec<String>);

fn seen_change(base: &State, request: &Put) -> SeenChange {
    let (mut seen, mut unseen) = (BTreeMap::new(), Vec::new());
    for (node, versions) in &request.seen {
        let empty = BTreeMap::new();
        let old = base.seen.get(node.as_str());
        let change = VersionsChange::between(old.unwrap_or(&empty), versions);
        if !change.removed.is_empty() {
            unseen.push(node.clone());
            seen.insert(node.clone(), versions.clone());
        } else if !change.is_empty() || old.is_none() {
            seen.insert(node.clone(), change.set);
        }
    }
    for node in base.seen.keys().filter(|node| !request.seen.contains_key(&***node)) {
        unseen.push(node.to_string());
    }
    (seen, unseen)
}
