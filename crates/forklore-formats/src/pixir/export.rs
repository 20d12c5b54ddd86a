//! Writes Pixir's session logs as Pixir writes its own forks: a `session_fork` event that names the
//! original, then its events with new ids and numbers. Their `data`, times and types remain
//! unchanged.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use forklore_core::export::{
    Export, FileWriter, Following, Home, NewFile, NoDestination, Placement, TimedMessage,
};
use forklore_core::{Data, Event, EventType, Role};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use super::lineage::{self, Replayed};
use super::{record, view};
use crate::pieces::{self, Losses, Piece};
use crate::splice::{Field, Splice, plainer, quoted};

impl Export for super::Pixir {
    fn writer(&self, file: &NewFile) -> Box<dyn FileWriter> {
        Box::new(Writer::new(file))
    }

    fn home(&self) -> Option<Home> {
        None
    }

    fn is_in_workspace(&self) -> bool {
        true
    }

    fn destination(
        &self,
        file: &NewFile,
        _read: &dyn Fn(&Path) -> Option<String>,
    ) -> Result<Placement, NoDestination> {
        let path = sessions().join(format!("{}.ndjson", session_id(file)));
        Ok(Placement { path, companions: Vec::new() })
    }

    /// Returns the path for a copy of a resource file (an attachment) of the original, or of the
    /// session of which that is a fork. A fork of Pixir has a copy of each resource that its events
    /// name. Returns `None` if `name` is not in the directory of a session.
    fn sidecar(&self, file: &NewFile, name: &Path) -> Option<PathBuf> {
        let mut parts = name.components();
        parts.next()?;
        let inside = parts.as_path();
        let new = sessions().join(session_id(file)).join(inside);
        inside.starts_with("resources").then_some(new)
    }

    fn names_parent(&self) -> bool {
        true
    }

    fn start(&self, file: &NewFile, _path: &str) -> Vec<Vec<String>> {
        vec![["pixir", "resume", &session_id(file)].map(str::to_owned).to_vec()]
    }
}

fn sessions() -> PathBuf {
    [".pixir", "sessions"].iter().collect()
}

/// Returns the id of the exported session in the form of Pixir's own ids: a time and 6 hexadecimal
/// digits.
fn session_id(file: &NewFile) -> String {
    let time = format!("{:.0}", file.now).replace(['-', ':', 'Z'], "");
    format!("{time}-{}", last_digits(&file.fresh_id(0), 6))
}

/// Returns the last `count` hexadecimal digits of a UUID.
fn last_digits(uuid: &str, count: usize) -> String {
    let digits = uuid.replace('-', "");
    digits.get(digits.len().saturating_sub(count)..).unwrap_or_default().to_owned()
}

struct Writer {
    file: NewFile,
    session_id: String,
    /// The number of the next event.
    next: u64,
    /// The exported events of the original: their numbers in its log, and their new ones.
    numbers: Vec<(u64, u64)>,
    /// The root of the forks to which the original belongs, if it is itself a fork.
    fork_root: Option<String>,
    losses: Losses,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Fields<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    session_id: Field<'a>,
    #[serde(borrow)]
    seq: Field<'a>,
    #[serde(borrow)]
    data: Field<'a>,
}

/// The numbers in a compaction that refer to other events.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Compaction<'a> {
    #[serde(borrow)]
    range: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Range<'a> {
    #[serde(borrow)]
    from_seq: Field<'a>,
    #[serde(borrow)]
    to_seq: Field<'a>,
}

impl Writer {
    fn new(file: &NewFile) -> Self {
        let session_id = session_id(file);
        Self {
            file: file.clone(),
            session_id,
            next: 0,
            numbers: Vec::new(),
            fork_root: None,
            losses: Losses::new(),
        }
    }

    /// Returns the number of an event in the log of the original. An event that the original
    /// replayed from its own parent has there the number that it has in the new log, because both
    /// logs begin with the same events.
    fn number(&self, event: &Data) -> Option<u64> {
        let original = self.file.original.as_ref()?;
        let is_own = view::session(event).is_none_or(|session| session == original.native_id);
        if is_own { view::number(event) } else { Some(self.next) }
    }

    fn event_id(&self) -> String {
        last_digits(&self.file.fresh_id(self.next + 1), 16)
    }

    fn write(
        &mut self,
        kind: &str,
        ts: Timestamp,
        data: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let (id, seq, session) = (self.event_id(), self.next, quoted(&self.session_id));
        self.next += 1;
        writeln!(
            out,
            "{{\"data\":{data},\"id\":\"{id}\",\"seq\":{seq},\"session_id\":{session},\
             \"ts\":\"{ts:.6}\",\"type\":\"{kind}\"}}"
        )
    }

    /// Writes an event of the original under a new id and number. Returns `None` if Pixir could not
    /// read the event.
    fn copy(&mut self, event: &Event, line: &str, out: &mut dyn Write) -> Option<io::Result<()>> {
        let fields: Fields<'_> = serde_json::from_str(line).ok()?;
        let data = fields.data.0.filter(|data| data.get().starts_with('{'))?;
        let mut splice = Splice::default();
        if event.kind == EventType::HISTORY_COMPACTION {
            self.splice_range(line, data.get(), &mut splice)?;
        }
        let old = self.number(&event.data);
        splice.set(line, "id", fields.id, quoted(&self.event_id()));
        splice.set(line, "session_id", fields.session_id, quoted(&self.session_id));
        splice.set(line, "seq", fields.seq, self.next.to_string());
        self.numbers.extend(old.map(|old| (old, self.next)));
        self.next += 1;
        Some(splice.write(line, out))
    }

    /// Changes the range of a compaction to the new numbers of its events. Returns `None` if none
    /// of them is in the exported file.
    fn splice_range(&self, line: &str, data: &str, splice: &mut Splice) -> Option<()> {
        let Compaction { range } = serde_json::from_str(data).ok()?;
        let Range { from_seq, to_seq } = serde_json::from_str(range.0?.get()).ok()?;
        let number = |field: Field<'_>| field.0?.get().parse::<u64>().ok();
        let last = number(to_seq)?;
        let (_, new_last) = self.numbers.iter().rev().find(|(old, _)| *old <= last)?;
        splice.set(line, "to_seq", to_seq, new_last.to_string());
        if let Some(first) = number(from_seq) {
            let (_, new_first) = self.numbers.iter().find(|(old, _)| *old >= first)?;
            splice.set(line, "from_seq", from_seq, new_first.to_string());
        }
        Some(())
    }
}

impl FileWriter for Writer {
    fn previews(&self) -> bool {
        self.file.original.is_some()
    }

    /// Writes the record to nowhere, to learn its number and whether it will be in the file. The
    /// event with the number 0 is the `session_fork`.
    fn preview(&mut self, following: Following<'_>) {
        match following {
            Following::Side(line) if self.fork_root.is_none() => {
                self.fork_root = lineage::fork_root(line);
            }
            Following::Side(_) => {}
            Following::Record(event) => {
                self.next = self.next.max(1);
                // What is written to nowhere cannot fail.
                let _ = self.record(event, &mut io::sink());
            }
        }
    }

    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let Some(original) = self.file.original.clone() else { return Ok(()) };
        let replayed = std::mem::take(&mut self.numbers);
        let count = std::mem::take(&mut self.next).saturating_sub(1);
        let root = self.fork_root.take();
        let replayed = Replayed::of(&original.native_id, &replayed, count);
        let data = lineage::session_fork(&replayed, root.as_deref(), &self.file.cwd);
        self.write("session_fork", self.file.now, &data.to_string(), out)
    }

    fn record(&mut self, event: &Event, out: &mut dyn Write) -> io::Result<bool> {
        if matches!(event.kind.as_str(), "provider_usage" | "turn_failed") {
            // As in Pixir's own forks: costs and failures belong to the original.
            return Ok(true);
        }
        if !record::is_own_type(&event.kind) {
            // Pixir refuses a log with a type that it does not know.
            return Ok(false);
        }
        let line = event.data.get();
        if let Some(written) = self.copy(event, line, out) {
            return written.map(|()| true);
        }
        let written = plainer(line).and_then(|line| self.copy(event, &line, out));
        written.map_or(Ok(false), |written| written.map(|()| true))
    }

    fn message(&mut self, timed: &TimedMessage<'_>, out: &mut dyn Write) -> io::Result<()> {
        let role = timed.message.role;
        if role == Role::System {
            pieces::lose(EventType::SYSTEM_MESSAGE.as_str(), &mut self.losses);
            return Ok(());
        }
        let pieces = pieces::of_message(timed.message, &mut self.losses);
        let is_own = |piece: &Piece| matches!(piece, Piece::Call { .. } | Piece::Result { .. });
        for pieces in pieces.chunk_by(|a, b| !is_own(a) && !is_own(b)) {
            if let Some((kind, data)) = event(role, pieces, &mut self.losses) {
                self.write(kind, timed.ts, &data, out)?;
            }
        }
        Ok(())
    }

    /// Writes the summary of a fork as Pixir does. Its positions are those of the original. What was
    /// brought from another branch summarizes no part of the original, and remains a message.
    fn summary(&mut self, event: &Event, text: &str, out: &mut dyn Write) -> io::Result<bool> {
        let Some(original) = &self.file.original else { return Ok(false) };
        let count = self.numbers.len() as u64;
        let replayed = Replayed::of(&original.native_id, &self.numbers, count);
        let Some(data) = lineage::branch_summary(&replayed, &event.data, text) else {
            return Ok(false);
        };
        self.write("branch_summary", event.ts, &data.to_string(), out).map(|()| true)
    }

    fn finish(&mut self, _out: &mut dyn Write) -> io::Result<BTreeMap<String, u64>> {
        Ok(std::mem::take(&mut self.losses))
    }
}

/// The `data` of a call. The arguments retain the text in which the model wrote them.
#[derive(Serialize)]
struct Call<'a> {
    args: Box<RawValue>,
    call_id: &'a str,
    name: &'a str,
}

/// Converts adjacent parts of a message to an event: its type and its `data`. Pixir's events have
/// no place for images, so images are counted as lost. Returns `None` if nothing is left of a
/// message.
fn event(role: Role, pieces: &[Piece], losses: &mut Losses) -> Option<(&'static str, String)> {
    match pieces {
        [Piece::Call { id, name, arguments }] => {
            let args = pieces::raw_object(arguments);
            let data = serde_json::to_string(&Call { args, call_id: id, name }).ok()?;
            Some(("tool_call", data))
        }
        [Piece::Result { call_id, content, is_error, .. }] => {
            pieces::lose_images(content, losses);
            let output = pieces::text_of(content);
            let data = json!({"call_id": call_id, "ok": !is_error, "output": output});
            Some(("tool_result", data.to_string()))
        }
        pieces => {
            pieces::lose_images(pieces, losses);
            let kind = if role == Role::Assistant { "assistant_message" } else { "user_message" };
            let text = pieces::text_of(pieces);
            (!text.is_empty()).then(|| (kind, json!({ "text": text }).to_string()))
        }
    }
}
