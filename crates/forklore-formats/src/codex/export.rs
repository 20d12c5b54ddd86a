//! Writes Codex's session files. A session that Codex wrote keeps its own records with the model's
//! input and output: their payloads do not change. Messages of other agents are converted to such
//! records. The export generates the `event_msg` records, which Codex's interface shows as turns
//! and messages. Generated records have ordinals only in a file that continues another file.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use forklore_core::export::{
    Export, FileWriter, Home, NewFile, NoDestination, Placement, TimedMessage, Unattended,
};
use forklore_core::{Event, EventType, Role};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::view;
use crate::pieces::{self, Losses, Piece};
use crate::splice::{Field, plainer, quoted};

/// The version of Codex that an export writes into the file's header. The export follows the rules
/// of this version.
const VERSION: &str = "0.169.0";

impl Export for super::Codex {
    fn writer(&self, file: &NewFile) -> Box<dyn FileWriter> {
        let (file, next) = (file.clone(), file.shared.as_ref().map(|shared| shared.records));
        Box::new(Writer { file, next, turn: None, turns: 0, answer: None, losses: Losses::new() })
    }

    fn home(&self) -> Option<Home> {
        Some(Home { variable: "CODEX_HOME", holds: false, folder: ".codex" })
    }

    fn destination(
        &self,
        file: &NewFile,
        _read: &dyn Fn(&Path) -> Option<String>,
    ) -> Result<Placement, NoDestination> {
        let time = format!("{:.0}", file.now).replace(':', "-");
        let time = time.trim_end_matches('Z');
        let (day, _) = time.split_once('T').unwrap_or((time, ""));
        let mut path = PathBuf::from("sessions");
        path.extend(day.split('-'));
        path.push(format!("rollout-{time}-{}.jsonl", file.id));
        Ok(Placement { path, companions: Vec::new() })
    }

    fn records_up_to(&self, last: &Event) -> Option<u64> {
        let fields: Enveloped<'_> = last.data.read().ok()?;
        fields.ordinal.0?.get().parse::<u64>().ok()?.checked_add(1)
    }

    fn start(&self, file: &NewFile, _path: &str) -> Vec<Vec<String>> {
        vec![["codex", "resume", file.id.as_str()].map(str::to_owned).to_vec()]
    }

    fn unattended(&self, file: &NewFile, _: &str, run: &Unattended) -> Option<Vec<Vec<String>>> {
        let mut words = ["codex", "exec", "--skip-git-repo-check"].map(str::to_owned).to_vec();
        run.add_model(&mut words, "--model");
        let allowed: &[&str] = match run.everything {
            true => &["--dangerously-bypass-approvals-and-sandbox"],
            false => &["--sandbox", "workspace-write"],
        };
        words.extend(allowed.iter().map(|word| (*word).to_owned()));
        words.extend(["resume", file.id.as_str(), "-"].map(str::to_owned));
        Some(vec![words])
    }
}

struct Writer {
    file: NewFile,
    /// The ordinal (running number) of the next record. `None` if the exported file does not
    /// continue another file; its records then have no ordinals.
    next: Option<u64>,
    /// The id of the present turn: its start was written to the file, but its end was not.
    turn: Option<String>,
    turns: u64,
    /// The model's last text in the turn that is being written.
    answer: Option<String>,
    losses: Losses,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Enveloped<'a> {
    #[serde(borrow)]
    timestamp: Field<'a>,
    #[serde(borrow)]
    ordinal: Field<'a>,
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    payload: Field<'a>,
    #[serde(borrow)]
    metadata: Field<'a>,
}

impl Writer {
    fn line(
        &mut self,
        ts: Timestamp,
        kind: &str,
        payload: impl std::fmt::Display,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let ordinal = self.next.map(|next| format!("\"ordinal\":{next},")).unwrap_or_default();
        self.next = self.next.and_then(|next| next.checked_add(1));
        writeln!(
            out,
            "{{\"timestamp\":\"{ts:.3}\",{ordinal}\"type\":\"{kind}\",\"payload\":{payload}}}"
        )
    }

    /// Writes the `event_msg` record from which Codex's interface shows a message. In a file with
    /// ordinals, the payload's type is `item_completed`.
    fn write_mark(
        &mut self,
        ts: Timestamp,
        by_model: bool,
        text: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let event = match (self.next, by_model) {
            (None, false) => json!({"type": "user_message", "message": text, "images": []}),
            (None, true) => json!({"type": "agent_message", "message": text}),
            (Some(next), by_model) => {
                let id = self.file.fresh_id(next.saturating_add(1 << 40));
                let item = if by_model {
                    json!({"type": "AgentMessage", "id": id,
                        "content": [{"type": "Text", "text": text}]})
                } else {
                    json!({"type": "UserMessage", "id": id,
                        "content": [{"type": "text", "text": text, "text_elements": []}]})
                };
                json!({"type": "item_completed", "thread_id": self.file.id.as_str(),
                    "turn_id": self.turn, "item": item, "completed_at_ms": ts.as_millisecond()})
            }
        };
        self.line(ts, "event_msg", event, out)
    }

    fn begin_turn(&mut self, ts: Timestamp, text: &str, out: &mut dyn Write) -> io::Result<()> {
        self.end_turn(ts, out)?;
        let id = self.file.fresh_id(self.turns);
        self.turns += 1;
        self.line(ts, "event_msg", json!({"type": "task_started", "turn_id": id}), out)?;
        self.turn = Some(id);
        self.write_mark(ts, false, text, out)
    }

    fn end_turn(&mut self, ts: Timestamp, out: &mut dyn Write) -> io::Result<()> {
        let Some(turn) = self.turn.take() else { return Ok(()) };
        let answer = self.answer.take();
        let mark = match answer {
            Some(_) => {
                json!({"type": "task_complete", "turn_id": turn, "last_agent_message": answer})
            }
            None => json!({"type": "turn_aborted", "turn_id": turn, "reason": "interrupted"}),
        };
        self.line(ts, "event_msg", mark, out)
    }

    fn write_answer(&mut self, ts: Timestamp, text: String, out: &mut dyn Write) -> io::Result<()> {
        if !text.is_empty() {
            self.write_mark(ts, true, &text, out)?;
            self.answer = Some(text);
        }
        Ok(())
    }

    fn copied(
        &mut self,
        event: &Event,
        line: &str,
        out: &mut dyn Write,
    ) -> Option<io::Result<bool>> {
        let fields: Enveloped<'_> = serde_json::from_str(line).ok()?;
        let kind = fields.kind.text();
        if matches!(kind.as_deref(), Some("event_msg" | "token_usage_record" | "session_meta")) {
            // The export writes its own header and `event_msg` records, and usage belongs to the
            // original session.
            return Some(Ok(true));
        }
        Some(self.item(event, line, &fields, out).map(|()| true))
    }

    fn item(
        &mut self,
        event: &Event,
        line: &str,
        fields: &Enveloped<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let text = || {
            let message = view::message(&event.kind, &event.data.readable());
            message.map(|message| message.plain_text()).unwrap_or_default()
        };
        if event.effect.starts_turn {
            self.begin_turn(event.ts, &text(), out)?;
        }
        match (fields.kind.0, fields.payload.0) {
            (Some(_), Some(_)) if fields.ordinal.0.is_none() && fields.metadata.0.is_none() => {
                out.write_all(line.as_bytes())?;
                out.write_all(b"\n")?;
            }
            (Some(kind), Some(payload)) => {
                let own = fields.timestamp.0.map(|raw| raw.get().to_owned());
                let ts = own.unwrap_or_else(|| format!("\"{:.3}\"", event.ts));
                write!(out, "{{\"timestamp\":{ts},\"type\":{},\"payload\":", kind.get())?;
                out.write_all(payload.get().as_bytes())?;
                out.write_all(b"}\n")?;
            }
            // The record is from a file of early 2025 and has no envelope.
            _ => self.line(event.ts, "response_item", line, out)?,
        }
        if event.kind == EventType::ASSISTANT_MESSAGE {
            self.write_answer(event.ts, text(), out)?;
        }
        Ok(())
    }
}

impl FileWriter for Writer {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let now = self.file.now;
        let (id, cwd) = (quoted(self.file.id.as_str()), quoted(&self.file.cwd));
        let base = self.file.shared.as_ref().map(|shared| {
            let base = json!({"thread_id": shared.file_id, "end_byte_offset": shared.bytes,
                "end_ordinal_exclusive": shared.records});
            format!(",\"session_id\":{id},\"history_mode\":\"paginated\",\"history_base\":{base}")
        });
        let payload = format!(
            "{{\"id\":{id},\"timestamp\":\"{now:.3}\",\"cwd\":{cwd},\"originator\":\"forklore\",\
             \"cli_version\":\"{VERSION}\",\"source\":\"cli\"{}}}",
            base.unwrap_or_default()
        );
        self.line(now, "session_meta", payload, out)
    }

    fn record(&mut self, event: &Event, out: &mut dyn Write) -> io::Result<bool> {
        let line = event.data.get();
        if let Some(written) = self.copied(event, line, out) {
            return written;
        }
        let plain = plainer(line);
        plain.and_then(|line| self.copied(event, &line, out)).unwrap_or(Ok(false))
    }

    fn message(&mut self, timed: &TimedMessage<'_>, out: &mut dyn Write) -> io::Result<()> {
        let role = timed.message.role;
        if role == Role::System {
            pieces::lose(EventType::SYSTEM_MESSAGE.as_str(), &mut self.losses);
            return Ok(());
        }
        let pieces = pieces::of_message(timed.message, &mut self.losses);
        for piece in &pieces {
            if let Piece::Result { is_error, .. } = piece {
                pieces::lose_failure(*is_error, &mut self.losses);
            }
        }
        let text = pieces::text_of(&pieces);
        if timed.starts_turn {
            self.begin_turn(timed.ts, &text, out)?;
        }
        for item in items(role, &pieces) {
            self.line(timed.ts, "response_item", item, out)?;
        }
        if role == Role::Assistant {
            self.write_answer(timed.ts, text, out)?;
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<BTreeMap<String, u64>> {
        self.end_turn(self.file.now, out)?;
        Ok(std::mem::take(&mut self.losses))
    }
}

/// Converts a message to items, the records of Codex's conversation. Adjacent texts and images
/// become one item. Each call and each result becomes a separate item.
fn items(role: Role, pieces: &[Piece]) -> Vec<Value> {
    let (author, text_kind) = match role {
        Role::Assistant => ("assistant", "output_text"),
        _ => ("user", "input_text"),
    };
    let is_content = |piece: &Piece| matches!(piece, Piece::Text(_) | Piece::Image { .. });
    let together = pieces.chunk_by(|a, b| is_content(a) && is_content(b));
    let items = together.filter_map(|pieces| match pieces {
        [Piece::Call { id, name, arguments }] => Some(json!({
            "type": "function_call", "name": name, "call_id": pieces::plain_id(id),
            "arguments": pieces::object_text(arguments),
        })),
        [Piece::Result { call_id, content, .. }] => {
            let output = match content.as_slice() {
                [] => json!(""),
                [Piece::Text(text)] => json!(text),
                pieces => pieces.iter().filter_map(|piece| part(piece, "input_text")).collect(),
            };
            let call_id = pieces::plain_id(call_id);
            Some(json!({"type": "function_call_output", "call_id": call_id, "output": output}))
        }
        pieces => {
            let content: Vec<_> =
                pieces.iter().filter_map(|piece| part(piece, text_kind)).collect();
            (!content.is_empty())
                .then(|| json!({"type": "message", "role": author, "content": content}))
        }
    });
    items.collect()
}

fn part(piece: &Piece, text_kind: &str) -> Option<Value> {
    match piece {
        Piece::Text(text) => Some(json!({"type": text_kind, "text": text})),
        Piece::Image { media_type, base64 } => {
            let url = format!("data:{media_type};base64,{base64}");
            Some(json!({"type": "input_image", "image_url": url}))
        }
        Piece::Call { .. } | Piece::Result { .. } => None,
    }
}
