//! Writes a document for `opencode import`. All ids in it are new, because opencode silently drops
//! messages whose ids exist already.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use forklore_core::call::CallStep;
use forklore_core::export::{
    Export, FileWriter, Home, NewFile, NoDestination, Placement, TimedMessage, Unattended,
};
use forklore_core::{Event, EventType, Role};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::message_ids::MessageIds;
use crate::call_cursor::CallCursor;
use crate::pieces::{self, Losses, Piece};
use crate::splice::{Field, Splice, plainer, quoted};

/// The version of opencode that an export writes into the document. The export follows the rules of
/// this version.
const VERSION: &str = "1.18.33";
const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// A mask for the 48 bits of a time that are written into an id.
const TIME: u64 = (1 << 48) - 1;

impl Export for super::Opencode {
    fn writer(&self, file: &NewFile) -> Box<dyn FileWriter> {
        Box::new(Writer::new(file))
    }

    /// Returns `None`: opencode stores its sessions in a database and imports a file from any path.
    fn home(&self) -> Option<Home> {
        None
    }

    fn destination(
        &self,
        file: &NewFile,
        _read: &dyn Fn(&Path) -> Option<String>,
    ) -> Result<Placement, NoDestination> {
        let path = PathBuf::from(format!("{}.json", session_id(file)));
        Ok(Placement { path, companions: Vec::new() })
    }

    fn start(&self, file: &NewFile, path: &str) -> Vec<Vec<String>> {
        let words = |words: [&str; 3]| words.map(str::to_owned).to_vec();
        vec![words(["opencode", "import", path]), words(["opencode", "-s", &session_id(file)])]
    }

    fn unattended(&self, file: &NewFile, path: &str, run: &Unattended) -> Option<Vec<Vec<String>>> {
        let import = ["opencode", "import", path].map(str::to_owned).to_vec();
        let mut words = ["opencode", "run", "-s", &session_id(file)].map(str::to_owned).to_vec();
        run.add_model(&mut words, "-m");
        words.extend(run.everything.then(|| "--auto".to_owned()));
        Some(vec![import, words])
    }
}

/// Returns the id of the exported session. In opencode, ids of later sessions are smaller, so that
/// the newest session sorts first.
fn session_id(file: &NewFile) -> String {
    id("ses", !stamp(file.now, 0), &file.fresh_id(0))
}

fn stamp(now: Timestamp, count: u64) -> u64 {
    u64::try_from(now.as_millisecond()).unwrap_or(0).wrapping_mul(4096).wrapping_add(count)
}

/// Builds an id in opencode's form: a prefix, the low 48 bits of `stamp` in hexadecimal, and 14
/// letters or digits derived from `seed`.
fn id(prefix: &str, stamp: u64, seed: &str) -> String {
    let mut left = u128::from_str_radix(&seed.replace('-', ""), 16).unwrap_or_default();
    let mut letters = String::new();
    for _ in 0..14 {
        let at = usize::try_from(left % 62).unwrap_or_default();
        letters.push(LETTERS.get(at).map_or('0', |letter| char::from(*letter)));
        left /= 62;
    }
    format!("{prefix}_{:012x}{letters}", stamp & TIME)
}

struct Writer {
    file: NewFile,
    session_id: String,
    /// Number of ids that the export has generated so far. It is added to the time in each id, so
    /// that later ids sort after earlier ones.
    count: u64,
    /// The id of the user message that was exported last. The model's responses after that message
    /// name it as their parent.
    last_user_message: String,
    /// The last message, if it was not written yet. A message of the model is written after the
    /// results of its tool calls were added.
    waiting: Option<Value>,
    /// The position among the tool calls of `waiting` at which the search begins for the call that
    /// the next tool result answers.
    cursor: CallCursor,
    /// A message that requests a summary, with the changes that the export makes to it. It is
    /// written together with the next record, the summary. Without the summary, opencode would send
    /// the request to the model.
    question: Option<(Splice, String)>,
    is_first: bool,
    clock: Clock,
    losses: Losses,
}

/// Gives the messages of an exported document times that never decrease. opencode sorts messages by
/// their times, but the summary of a compaction has a later time than the messages that follow it.
/// A time in the future becomes the time of the export, because opencode's next message must be the
/// last.
struct Clock {
    last: i64,
    now: i64,
}

impl Clock {
    fn new(now: Timestamp) -> Self {
        Self { last: i64::MIN, now: now.as_millisecond() }
    }

    /// Returns the time that the export writes for a message with the time `ms`. Both times are in
    /// milliseconds.
    fn rising(&mut self, ms: i64) -> i64 {
        self.last = self.last.max(ms.min(self.now));
        self.last
    }
}

impl Writer {
    fn new(file: &NewFile) -> Self {
        let session_id = session_id(file);
        let (clock, losses) = (Clock::new(file.now), Losses::new());
        let file = file.clone();
        let (last_user_message, waiting, question) = (String::new(), None, None);
        Self {
            file,
            session_id,
            count: 0,
            last_user_message,
            waiting,
            cursor: CallCursor::default(),
            question,
            is_first: true,
            clock,
            losses,
        }
    }

    fn fresh_id(&mut self, prefix: &str) -> String {
        self.count += 1;
        id(prefix, stamp(self.file.now, self.count), &self.file.fresh_id(self.count))
    }

    fn comma(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if std::mem::take(&mut self.is_first) { Ok(()) } else { out.write_all(b",") }
    }

    fn splice(&mut self, line: &str) -> Option<Splice> {
        let ids: MessageIds<'_> = serde_json::from_str(line).ok()?;
        let message = self.fresh_id("msg");
        let session = quoted(&self.session_id);
        let mut splice = Splice::default();
        let info = &ids.info;
        let mut change = |field: Field<'_>, json: String| {
            if let Some(raw) = field.0 {
                splice.replace(line, raw, json);
            }
        };
        change(info.id, quoted(&message));
        change(info.session, session.clone());
        if let Some((created, ms)) = info.created() {
            let rising = self.clock.rising(ms);
            if rising != ms {
                change(created, rising.to_string());
            }
        }
        if !info.role.is("user") {
            change(info.parent, quoted(&self.last_user_message));
        }
        for part in &ids.parts {
            let id = self.fresh_id("prt");
            change(part.id, quoted(&id));
            change(part.session, session.clone());
            change(part.message, quoted(&message));
            if let Some(began) = part.began() {
                change(part.time, began);
            }
        }
        if info.role.is("user") {
            self.last_user_message = message;
        }
        Some(splice)
    }

    fn flush(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let Some(message) = self.waiting.take() else { return Ok(()) };
        self.comma(out)?;
        writeln!(out, "{message}")
    }

    /// Adds the ids to a part of an exported message: its own id, its session's id, and the id of
    /// its message.
    fn part(&mut self, message: &str, mut fields: Value) -> Value {
        let id = self.fresh_id("prt");
        if let Some(fields) = fields.as_object_mut() {
            fields.insert("id".to_owned(), json!(id));
            fields.insert("sessionID".to_owned(), json!(self.session_id));
            fields.insert("messageID".to_owned(), json!(message));
        }
        fields
    }

    fn user_message(&mut self, timed: &TimedMessage<'_>, pieces: &[Piece]) -> Value {
        let id = self.fresh_id("msg");
        let parts: Vec<_> = pieces
            .iter()
            .filter_map(|piece| shown(piece, timed.ts))
            .map(|part| self.part(&id, part))
            .collect();
        self.last_user_message.clone_from(&id);
        let model = json!({"providerID": "unknown", "modelID": "unknown"});
        let info = json!({"id": id, "sessionID": self.session_id, "role": "user",
            "time": {"created": self.clock.rising(timed.ts.as_millisecond())},
            "agent": "build", "model": model});
        json!({"info": info, "parts": parts})
    }

    fn assistant_message(&mut self, timed: &TimedMessage<'_>, pieces: &[Piece]) -> Value {
        let id = self.fresh_id("msg");
        let calls = pieces.iter().any(|piece| matches!(piece, Piece::Call { .. }));
        let finish = if calls { "tool-calls" } else { "stop" };
        let tokens =
            json!({"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}});
        let mut fields = vec![json!({"type": "step-start"})];
        fields.extend(pieces.iter().filter_map(|piece| shown(piece, timed.ts)));
        fields.push(json!({"type": "step-finish", "reason": finish, "cost": 0, "tokens": tokens}));
        let parts: Vec<_> = fields.into_iter().map(|part| self.part(&id, part)).collect();
        let (cwd, ms) = (&self.file.cwd, self.clock.rising(timed.ts.as_millisecond()));
        let info = json!({"id": id, "sessionID": self.session_id, "role": "assistant",
            "parentID": self.last_user_message, "mode": "build", "agent": "build",
            "path": {"cwd": cwd, "root": cwd}, "cost": 0, "tokens": tokens,
            "modelID": "unknown", "providerID": "unknown",
            "time": {"created": ms, "completed": ms}, "finish": finish});
        json!({"info": info, "parts": parts})
    }

    /// Adds a tool result to its call in the message that was not written yet. Returns `false` if
    /// that message does not contain the call.
    fn answer(&mut self, timed: &TimedMessage<'_>, piece: &Piece) -> bool {
        let Piece::Result { call_id, content, is_error, .. } = piece else { return false };
        let Some(mut message) = self.waiting.take() else { return false };
        let id = message.pointer("/info/id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let parts = message.get_mut("parts").and_then(Value::as_array_mut);
        let part = parts.and_then(|parts| self.cursor.find(parts, "callID", call_id));
        let is_there = part.is_some();
        if let Some(part) = part {
            let input = part.pointer("/state/input").cloned().unwrap_or_default();
            let state = self.state(timed.ts, &id, &input, (content, *is_error));
            if let Some(part) = part.as_object_mut() {
                part.insert("state".to_owned(), state);
            }
        }
        self.waiting = Some(message);
        is_there
    }

    /// Returns the state of a tool call that has a result. The images of a result become
    /// attachments of the state. The state of a failed call can have no attachments, so its images
    /// are lost.
    fn state(
        &mut self,
        ts: Timestamp,
        message: &str,
        input: &Value,
        (content, is_error): (&[Piece], bool),
    ) -> Value {
        let text = pieces::text_of(content);
        let ms = ts.as_millisecond();
        let time = json!({"start": ms, "end": ms});
        if is_error {
            pieces::lose_images(content, &mut self.losses);
            return json!({"status": "error", "input": input, "error": text, "time": time});
        }
        let images = content.iter().filter(|piece| matches!(piece, Piece::Image { .. }));
        let files: Vec<_> = images
            .filter_map(|image| shown(image, ts))
            .map(|file| self.part(message, file))
            .collect();
        let mut state = json!({"status": "completed", "input": input, "output": text, "title": "",
            "metadata": {}, "time": time});
        if let (false, Some(fields)) = (files.is_empty(), state.as_object_mut()) {
            fields.insert("attachments".to_owned(), Value::Array(files));
        }
        state
    }
}

impl FileWriter for Writer {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let ms = self.file.now.as_millisecond();
        let title = self.file.title.as_deref().unwrap_or("from forklore");
        let info = json!({"id": self.session_id, "slug": "forklore", "projectID": "global",
            "directory": self.file.cwd, "title": title, "version": VERSION,
            "time": {"created": ms, "updated": ms}});
        writeln!(out, "{{\"info\":{info},\"messages\":[")
    }

    fn record(&mut self, event: &Event, out: &mut dyn Write) -> io::Result<bool> {
        let line = event.data.get();
        if is_of_journal(line) {
            return self.journal_record(event, out);
        }
        self.flush(out)?;
        let is_message =
            event.class.is_inherited() && (event.class.is_conversation() || self.has_role(line));
        if !is_message {
            return Ok(false);
        }
        let (splice, line) = match self.splice(line) {
            Some(splice) => (splice, Cow::Borrowed(line)),
            None => {
                let Some(line) = plainer(line) else { return Ok(false) };
                let Some(splice) = self.splice(&line) else { return Ok(false) };
                (splice, Cow::Owned(line))
            }
        };
        if event.kind.as_str() == "x.opencode.compaction" {
            self.question = Some((splice, line.into_owned()));
            return Ok(true);
        }
        if let Some((question, text)) = self.question.take() {
            self.comma(out)?;
            question.write(&text, out)?;
        }
        if has_open_call(event) {
            // The result of the call follows, and belongs into this message.
            let mut text = Vec::new();
            splice.write(&line, &mut text)?;
            self.waiting = serde_json::from_slice(&text).ok();
            return Ok(self.waiting.is_some());
        }
        self.comma(out)?;
        splice.write(&line, out).map(|()| true)
    }

    fn message(&mut self, timed: &TimedMessage<'_>, out: &mut dyn Write) -> io::Result<()> {
        let role = timed.message.role;
        if role == Role::System {
            pieces::lose(EventType::SYSTEM_MESSAGE.as_str(), &mut self.losses);
            return Ok(());
        }
        let mut pieces = pieces::of_message(timed.message, &mut self.losses);
        let mut answers: Vec<_> =
            pieces.extract_if(.., |piece| matches!(piece, Piece::Result { .. })).collect();
        if !pieces.is_empty() {
            self.flush(out)?;
            let message = match role {
                Role::Assistant => self.assistant_message(timed, &pieces),
                _ => self.user_message(timed, &pieces),
            };
            self.waiting = Some(message);
        }
        answers.retain(|answer| !self.answer(timed, answer));
        for _ in answers {
            // The result is lost, because no call in the last message has this id.
            pieces::lose(EventType::TOOL_RESULT.as_str(), &mut self.losses);
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<BTreeMap<String, u64>> {
        self.flush(out)?;
        out.write_all(b"]}\n")?;
        Ok(std::mem::take(&mut self.losses))
    }
}

impl Writer {
    /// Writes a record of opencode's second version in the form of the first, which `opencode
    /// import` reads.
    fn journal_record(&mut self, event: &Event, out: &mut dyn Write) -> io::Result<bool> {
        if !event.class.is_conversation() {
            return Ok(false);
        }
        let Some(message) = super::view::message(&event.kind, &event.data) else {
            return Ok(false);
        };
        let (ts, starts_turn) = (event.ts, event.effect.starts_turn);
        self.message(&TimedMessage { message: &message, ts, starts_turn }, out)?;
        Ok(true)
    }

    /// Checks by its role whether a record is a message. Records about hidden or deleted messages
    /// have no role.
    fn has_role(&self, line: &str) -> bool {
        serde_json::from_str::<MessageIds<'_>>(line).is_ok_and(|ids| ids.info.role.text().is_some())
    }
}

/// Checks whether a record is a message in the form of opencode's second version.
fn is_of_journal(line: &str) -> bool {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Record<'a> {
        #[serde(borrow)]
        message: Field<'a>,
    }
    serde_json::from_str::<Record<'_>>(line).is_ok_and(|record| record.message.0.is_some())
}

/// Checks whether a record opens a tool call that it does not close.
fn has_open_call(event: &Event) -> bool {
    let steps = &event.effect.calls;
    let closed: HashSet<&str> = steps
        .iter()
        .filter_map(|step| match step {
            CallStep::Close(id) => Some(id.as_str()),
            CallStep::Open(_) => None,
        })
        .collect();
    steps.iter().any(|step| matches!(step, CallStep::Open(call) if !closed.contains(&*call.id)))
}

fn shown(piece: &Piece, ts: Timestamp) -> Option<Value> {
    Some(match piece {
        Piece::Text(text) => json!({"type": "text", "text": text}),
        Piece::Image { media_type, base64 } => {
            let url = format!("data:{media_type};base64,{base64}");
            json!({"type": "file", "mime": media_type, "url": url})
        }
        Piece::Call { id, name, arguments } => {
            let ms = ts.as_millisecond();
            json!({"type": "tool", "tool": name, "callID": id, "state": {
                "status": "error", "input": pieces::object(arguments),
                "error": "No result: the call was interrupted.", "time": {"start": ms, "end": ms}}})
        }
        Piece::Result { .. } => return None,
    })
}
