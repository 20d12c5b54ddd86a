//! How an event changes a thread in memory.

use std::sync::Arc;

use forklore_core::{Class, Data};
use jiff::Timestamp;

use crate::checkpoint::{Checkpoint, State, Value, Versions};
use crate::elements::{Position, Text};
use crate::key::Key;
use crate::record::{
    ATTACHED, AttachedRecord, CHECKPOINT, CheckpointRecord, Part, REMOVED, RemovedRecord, VALUE,
    ValueRecord, WRITES, WritesRecord,
};
use crate::sequence::Sequence;
use crate::thread::{Stored, TaskWrite, Thread};

impl Thread {
    /// Applies the next event of a line. An event that was redacted, or that another program wrote
    /// in another form, contributes nothing; what builds on it is marked as damaged.
    pub(crate) fn apply(&mut self, event: &Stored<'_>) {
        match event.kind {
            VALUE => self.add_element(event, Key::of(event.data.get()), None),
            ATTACHED => {
                if let Ok(record) = event.data.read::<AttachedRecord>() {
                    self.add_element(event, record.key, Some(Text::Attachment(record.attachment)));
                }
            }
            CHECKPOINT => match event.data.read::<CheckpointRecord>() {
                Ok(record) => self.apply_checkpoint(event, &record),
                Err(_) => self.lose_checkpoint(event),
            },
            WRITES => {
                if let Ok(record) = event.data.read::<WritesRecord>() {
                    self.apply_writes(event, record);
                }
            }
            REMOVED => {
                if let Ok(record) = event.data.read::<RemovedRecord>() {
                    self.removed.extend(record.checkpoints.into_iter().map(Arc::from));
                }
            }
            _ if event.class == Class::Conversation => {
                self.add_element(event, Key::of(event.data.get()), None);
            }
            _ => {}
        }
        if let Some(line) = self.lines.get_mut(event.line) {
            line.head = line.head.max(i64::try_from(event.seq).unwrap_or(i64::MAX));
        }
    }

    fn add_element(&mut self, event: &Stored<'_>, key: Key, text: Option<Text>) {
        let text = text.unwrap_or_else(|| Text::Event(event.data.clone()));
        let spoken = event.class == Class::Conversation;
        let position = Position { line: event.line, seq: event.seq, spoken };
        self.elements.add(key, text, event.kind, position);
    }

    fn last_of(&self, line: usize) -> Option<usize> {
        self.lines.get(line)?.last
    }

    /// Records that the next checkpoint of a line cannot name the one before it.
    fn lose_checkpoint(&mut self, event: &Stored<'_>) {
        let id: Arc<str> = format!("\0{}:{}", event.line, event.seq).into();
        let checkpoint = Checkpoint {
            id: id.clone(),
            parent: None,
            state: State::default(),
            damaged: true,
            line: event.line,
            seq: event.seq,
        };
        self.removed.insert(id.clone());
        self.add_checkpoint(event, id, checkpoint);
    }

    fn apply_checkpoint(&mut self, event: &Stored<'_>, record: &CheckpointRecord) {
        if event.inherited
            && let Some(at) = self.find(event.id)
        {
            if let Some(line) = self.lines.get_mut(event.line) {
                line.last = Some(at);
            }
            return;
        }
        let id: Arc<str> = event.id.into();
        let implied = || self.last_of(event.line).and_then(|at| self.checkpoint(at));
        let (parent, base) = match (&record.parent, record.root) {
            (Some(parent), _) => {
                let base = self.find(parent).and_then(|at| self.checkpoint(at));
                (Some(parent.as_str().into()), base)
            }
            (None, true) => (None, None),
            (None, false) => (implied().map(|base| base.id.clone()), implied()),
        };
        let (base, base_damaged) =
            base.map_or((State::default(), false), |base| (base.state.clone(), base.damaged));
        let (mut state, complete) = self.state_after(&base, record);
        if !record.fields.contains_key(TIME) {
            let time = (Arc::from(TIME), as_written(event.ts));
            Arc::make_mut(&mut state.fields).extend([time]);
        }
        let checkpoint = Checkpoint {
            id: id.clone(),
            parent,
            state,
            damaged: base_damaged || !complete,
            line: event.line,
            seq: event.seq,
        };
        self.removed.remove(&id);
        self.add_checkpoint(event, id, checkpoint);
    }

    fn add_checkpoint(&mut self, event: &Stored<'_>, id: Arc<str>, checkpoint: Checkpoint) {
        let at = self.checkpoints.len();
        self.checkpoints.push(checkpoint);
        self.ids.insert(id, at);
        if let Some(line) = self.lines.get_mut(event.line) {
            line.last = Some(at);
            line.checkpoints.push((event.seq, at));
        }
    }

    /// Returns the state of a checkpoint, and whether everything to which it refers exists.
    fn state_after(&mut self, base: &State, record: &CheckpointRecord) -> (State, bool) {
        let mut state = base.clone();
        change(Arc::make_mut(&mut state.fields), &record.fields, &record.fieldless);
        if !record.metadata.is_empty() || !record.unmarked.is_empty() {
            change(Arc::make_mut(&mut state.metadata), &record.metadata, &record.unmarked);
        }
        if record.new_versions().next().is_some() || !record.unversioned.is_empty() {
            let versions = Arc::make_mut(&mut state.versions);
            change(versions, record.new_versions(), &record.unversioned);
        }
        if !record.seen.is_empty() || !record.unseen.is_empty() {
            let seen = Arc::make_mut(&mut state.seen);
            record.unseen.iter().for_each(|node| drop(seen.remove(node.as_str())));
            for (node, versions) in &record.seen {
                change(seen.entry(node.as_str().into()).or_default(), versions, &[]);
            }
        }
        let mut complete = true;
        if !record.values.is_empty() || !record.gone.is_empty() {
            let mut changed = Vec::with_capacity(record.values.len());
            for (channel, value) in &record.values {
                let (value, whole) = self.value(base.values.get(channel.as_str()), value);
                complete &= whole;
                changed.push((Arc::from(channel.as_str()), value));
            }
            let values = Arc::make_mut(&mut state.values);
            record.gone.iter().for_each(|channel| drop(values.remove(channel.as_str())));
            values.extend(changed);
        }
        (state, complete)
    }

    fn value(&mut self, base: Option<&Value>, record: &ValueRecord) -> (Value, bool) {
        if let Some(key) = record.is {
            return (Value::Element(self.elements.number(key)), true);
        }
        let empty = Sequence::default();
        let base = match base {
            Some(Value::List(base)) => base,
            _ => &empty,
        };
        if let Some(added) = &record.add {
            let mut list = base.clone();
            added.iter().for_each(|key| list.push(self.elements.number(*key)));
            return (Value::List(list), true);
        }
        let Some(parts) = &record.list else {
            return (Value::Text(record.text.clone().unwrap_or_else(Data::null)), true);
        };
        let (mut list, mut whole) = (Sequence::default(), true);
        for part in parts {
            match *part {
                Part::One(key) => list.push(self.elements.number(key)),
                Part::Range(from, to) => {
                    whole &= from <= to && to <= base.len();
                    if from == 0 && list.len() == 0 {
                        list = base.prefix(to);
                    } else {
                        list.extend((from..to.min(base.len())).filter_map(|at| base.get(at)));
                    }
                }
            }
        }
        (Value::List(list), whole)
    }

    /// Adds the writes of a task. A write replaces an earlier one of the same task and index only if
    /// the index is negative: those are for errors and interrupts, of which the last one counts.
    fn apply_writes(&mut self, event: &Stored<'_>, record: WritesRecord) {
        let WritesRecord { checkpoint, task, path, writes, elements } = record;
        for text in elements {
            let position = Position { line: event.line, seq: event.seq, spoken: false };
            self.elements.add(Key::of(text.get()), Text::Event(text), event.kind, position);
        }
        let last = || self.last_of(event.line).and_then(|at| self.checkpoint(at));
        let named = checkpoint.map(Arc::from).or_else(|| last().map(|it| it.id.clone()));
        let Some(checkpoint) = named else { return };
        let all = self.writes.entry(checkpoint).or_default();
        for (index, channel, value) in writes {
            let write = TaskWrite { task: task.clone(), path: path.clone(), index, channel, value };
            match all.iter_mut().find(|it| it.task == task && it.index == index) {
                None => all.push(write),
                Some(old) if index < 0 => *old = write,
                Some(_) => {}
            }
        }
    }
}

/// The field of a checkpoint with its time.
pub(crate) const TIME: &str = "ts";

/// Returns the time of an event as LangGraph writes that of a checkpoint.
pub(crate) fn as_written(time: Timestamp) -> Data {
    Data::from_checked(format!("\"{}\"", time.strftime("%Y-%m-%dT%H:%M:%S%.6f+00:00")))
}

fn change<'a>(
    versions: &mut Versions,
    set: impl IntoIterator<Item = (&'a String, &'a Data)>,
    removed: &[String],
) {
    for channel in removed {
        versions.remove(channel.as_str());
    }
    for (channel, version) in set {
        match versions.get_mut(channel.as_str()) {
            Some(old) => *old = version.clone(),
            None => drop(versions.insert(channel.as_str().into(), version.clone())),
        }
    }
}
