//! Writes Pi's session files: a header, then one chain of records.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use forklore_core::export::{
    Export, FileWriter, Home, NewFile, NoDestination, Placement, TimedMessage, Unattended,
};
use forklore_core::{Event, EventType, Message, Role};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::pieces::{self, Losses, Piece};
use crate::splice::{Field, Splice, plainer, quoted};

impl Export for super::Pi {
    fn writer(&self, file: &NewFile) -> Box<dyn FileWriter> {
        Box::new(Writer::new(file))
    }

    fn home(&self) -> Option<Home> {
        Some(Home { variable: "PI_CODING_AGENT_DIR", holds: false, folder: ".pi/agent" })
    }

    fn destination(
        &self,
        file: &NewFile,
        _read: &dyn Fn(&Path) -> Option<String>,
    ) -> Result<Placement, NoDestination> {
        let time = format!("{:.3}", file.now).replace([':', '.'], "-");
        let path = PathBuf::from("sessions")
            .join(folder_of(&file.cwd))
            .join(format!("{time}_{}.jsonl", file.id));
        Ok(Placement { path, companions: Vec::new() })
    }

    fn start(&self, _file: &NewFile, path: &str) -> Vec<Vec<String>> {
        vec![["pi", "--session", path].map(str::to_owned).to_vec()]
    }

    /// Returns the command of a Pi that may do everything: Pi has no permissions.
    fn unattended(&self, _: &NewFile, path: &str, run: &Unattended) -> Option<Vec<Vec<String>>> {
        let mut words = ["pi", "--session", path].map(str::to_owned).to_vec();
        run.add_model(&mut words, "--model");
        words.push("-p".to_owned());
        Some(vec![words])
    }
}

/// Returns the name of the directory in which Pi stores the sessions of the working directory
/// `cwd`.
fn folder_of(cwd: &str) -> String {
    let inside = cwd.strip_prefix(['/', '\\']).unwrap_or(cwd);
    format!("--{}--", inside.replace(['/', '\\', ':'], "-"))
}

struct Writer {
    file: NewFile,
    /// The id of the record that the export wrote last; `None` before the first record.
    tip: Option<String>,
    /// Hashes of the record ids in the exported file. The hashes need less memory than the ids.
    used_ids: HashSet<u64>,
    hasher: RandomState,
    /// The new ids of exported records whose own id was in use. The key is a record's own id.
    renamed: HashMap<String, String>,
    /// Number of records that the export has written so far, not counting the header.
    count: u64,
    losses: Losses,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RecordIds<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow, rename = "parentId")]
    parent: Field<'a>,
    #[serde(borrow, rename = "firstKeptEntryId")]
    first_entry: Field<'a>,
    #[serde(borrow, rename = "firstKeptEntryIndex")]
    first_index: Field<'a>,
    #[serde(borrow, rename = "targetId")]
    target: Field<'a>,
}

#[derive(Deserialize)]
struct MessageWithRole<'a> {
    #[serde(borrow)]
    message: MessageRole<'a>,
}

#[derive(Deserialize)]
struct MessageRole<'a> {
    #[serde(borrow, default)]
    role: Field<'a>,
}

impl Writer {
    fn new(file: &NewFile) -> Self {
        Self {
            file: file.clone(),
            tip: None,
            used_ids: HashSet::new(),
            hasher: RandomState::new(),
            renamed: HashMap::new(),
            count: 0,
            losses: Losses::new(),
        }
    }

    /// Returns an id that no record of the exported file has. It is for a record whose own id is
    /// missing or in use.
    fn fresh_id(&mut self) -> String {
        let mut number = self.count;
        loop {
            let id = self.id_at(number);
            if self.used_ids.insert(self.hasher.hash_one(&id)) {
                return id;
            }
            number += 1 << 40;
        }
    }

    /// Returns the id that is derived from `number`: eight hexadecimal digits, as in Pi's files.
    fn id_at(&self, number: u64) -> String {
        let id = self.file.fresh_id(number);
        id.get(id.len().saturating_sub(8)..).unwrap_or_default().to_owned()
    }

    /// Returns the id under which a record is exported: its own id if no earlier record has it,
    /// otherwise a new id.
    fn id_of(&mut self, own: Option<&str>) -> String {
        match own.filter(|own| !own.is_empty()) {
            Some(own) if self.used_ids.insert(self.hasher.hash_one(own)) => own.to_owned(),
            Some(own) => {
                let fresh = self.fresh_id();
                self.renamed.insert(own.to_owned(), fresh.clone());
                fresh
            }
            None => self.fresh_id(),
        }
    }

    fn parent(&self) -> String {
        self.tip.as_deref().map_or_else(|| "null".to_owned(), quoted)
    }

    fn splice(&mut self, line: &str, out: &mut dyn Write) -> Option<io::Result<()>> {
        let fields: RecordIds<'_> = serde_json::from_str(line).ok()?;
        let mut splice = Splice::default();
        for (name, field) in [("firstKeptEntryId", fields.first_entry), ("targetId", fields.target)]
        {
            let renamed = field.text().and_then(|id| self.renamed.get(&*id));
            if let Some(id) = renamed {
                splice.set(line, name, field, quoted(id));
            }
        }
        if let Some(index) = fields.first_index.0.and_then(|raw| raw.get().parse().ok())
            && fields.first_entry.0.is_none()
        {
            // The header is entry 0 of the file, so entry n is record n - 1.
            splice.add("firstKeptEntryId", &quoted(&self.id_at(u64::saturating_sub(index, 1))));
        }
        let id = self.id_of(fields.id.text().as_deref());
        splice.set(line, "id", fields.id, quoted(&id));
        splice.set(line, "parentId", fields.parent, self.parent());
        if fields.kind.is("message") && line.contains("\"hookMessage\"") {
            custom_role(line, &mut splice);
        }
        self.advance(id);
        Some(splice.write(line, out))
    }

    fn advance(&mut self, id: String) {
        self.tip = Some(id);
        self.count += 1;
    }

    fn write(
        &mut self,
        kind: &str,
        ts: Timestamp,
        fields: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let id = self.fresh_id();
        let (parent, quoted_id) = (self.parent(), quoted(&id));
        writeln!(
            out,
            "{{\"type\":\"{kind}\",\"id\":{quoted_id},\"parentId\":{parent},\
             \"timestamp\":\"{ts:.3}\",{fields}}}"
        )?;
        self.advance(id);
        Ok(())
    }

    fn write_message(
        &mut self,
        message: &Value,
        ts: Timestamp,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.write("message", ts, &format!("\"message\":{message}"), out)
    }
}

/// Changes the role `hookMessage` of a message to `custom`. Version 2 of Pi's format uses the old
/// role for messages of extensions.
fn custom_role(line: &str, splice: &mut Splice) {
    let renamed: Result<MessageWithRole<'_>, _> = serde_json::from_str(line);
    if let Ok(MessageWithRole { message: MessageRole { role } }) = renamed
        && role.is("hookMessage")
    {
        splice.set(line, "role", role, quoted("custom"));
    }
}

impl FileWriter for Writer {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let (id, cwd) = (quoted(self.file.id.as_str()), quoted(&self.file.cwd));
        let parent = self.file.original.as_ref();
        let parent =
            parent.map(|original| format!(",\"parentSession\":{}", quoted(&original.path)));
        writeln!(
            out,
            "{{\"type\":\"session\",\"version\":3,\"id\":{id},\"timestamp\":\"{:.3}\",\
             \"cwd\":{cwd}{}}}",
            self.file.now,
            parent.unwrap_or_default()
        )
    }

    fn record(&mut self, event: &Event, out: &mut dyn Write) -> io::Result<bool> {
        let line = event.data.get();
        if let Some(written) = self.splice(line, out) {
            return written.map(|()| true);
        }
        let written = plainer(line).and_then(|line| self.splice(&line, out));
        written.map_or(Ok(false), |written| written.map(|()| true))
    }

    fn message(&mut self, timed: &TimedMessage<'_>, out: &mut dyn Write) -> io::Result<()> {
        if timed.message.role == Role::System {
            // Pi generates the system message itself at its next turn.
            pieces::lose(EventType::SYSTEM_MESSAGE.as_str(), &mut self.losses);
            return Ok(());
        }
        for message in messages(timed, &mut self.losses) {
            self.write_message(&message, timed.ts, out)?;
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<BTreeMap<String, u64>> {
        if let Some(title) = self.file.title.clone() {
            self.write(
                "session_info",
                self.file.now,
                &format!("\"name\":{}", quoted(&title)),
                out,
            )?;
        }
        Ok(std::mem::take(&mut self.losses))
    }
}

/// Converts a message to messages in Pi's form. Each tool result becomes a separate message.
fn messages(timed: &TimedMessage<'_>, losses: &mut Losses) -> Vec<Value> {
    let Message { role, .. } = timed.message;
    let timestamp = timed.ts.as_millisecond();
    let mut content = Vec::new();
    let mut results = Vec::new();
    for piece in pieces::of_message(timed.message, losses) {
        match piece {
            Piece::Result { call_id, name, content, is_error } => {
                let content: Vec<_> = content.iter().filter_map(block).collect();
                results.push(json!({
                    "role": "toolResult", "toolCallId": call_id,
                    "toolName": name.unwrap_or_default(), "content": content,
                    "isError": is_error, "timestamp": timestamp,
                }));
            }
            piece => content.extend(block(&piece)),
        }
    }
    if !content.is_empty() {
        let message = match role {
            Role::Assistant => assistant(&content, timestamp),
            _ => json!({"role": "user", "content": content, "timestamp": timestamp}),
        };
        results.insert(0, message);
    }
    results
}

fn assistant(content: &[Value], timestamp: i64) -> Value {
    let calls = content.iter().any(|block| block.get("type") == Some(&json!("toolCall")));
    let none = json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0});
    json!({
        "role": "assistant", "content": content, "api": "unknown", "provider": "unknown",
        "model": "unknown", "timestamp": timestamp,
        "usage": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0,
            "cost": none},
        "stopReason": if calls { "toolUse" } else { "stop" },
    })
}

fn block(piece: &Piece) -> Option<Value> {
    Some(match piece {
        Piece::Text(text) => json!({"type": "text", "text": text}),
        Piece::Image { media_type, base64 } => {
            json!({"type": "image", "data": base64, "mimeType": media_type})
        }
        Piece::Call { id, name, arguments } => {
            let arguments = pieces::object(arguments);
            json!({"type": "toolCall", "id": id, "name": name, "arguments": arguments})
        }
        Piece::Result { .. } => return None,
    })
}
