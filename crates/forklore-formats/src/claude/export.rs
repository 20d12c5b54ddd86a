//! Writes Claude Code's session files: one chain of records in a new session, followed by the
//! records that describe the session.

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use forklore_core::export::{
    Export, FileWriter, Home, NewFile, NoDestination, Placement, TimedMessage, Unattended,
};
use forklore_core::{Event, EventType, Role};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use unicode_normalization::UnicodeNormalization;

use crate::pieces::{self, Losses, Piece};
use crate::splice::{Field, Splice, plainer, quoted};

/// Maximum length of the directory name for a project's sessions, in UTF-16 code units. A longer
/// name is truncated to this length and gets a hash appended.
const FOLDER: usize = 200;
/// The version of Claude Code that an export writes into messages. The export follows the rules of
/// this version.
const VERSION: &str = "2.1.211";
/// Types of the side records that an export copies from the imported file: what they say about the
/// session is also true of the exported copy. The export drops side records of other types.
const CARRIED: [&str; 3] = ["content-replacement", "mode", "permission-mode"];

impl Export for super::Claude {
    fn writer(&self, file: &NewFile) -> Box<dyn FileWriter> {
        Box::new(Writer::new(file))
    }

    fn home(&self) -> Option<Home> {
        Some(Home { variable: "CLAUDE_CONFIG_DIR", holds: false, folder: ".claude" })
    }

    fn destination(
        &self,
        file: &NewFile,
        _read: &dyn Fn(&Path) -> Option<String>,
    ) -> Result<Placement, NoDestination> {
        let folder = PathBuf::from("projects").join(folder_of(&file.cwd));
        Ok(Placement { path: folder.join(format!("{}.jsonl", file.id)), companions: Vec::new() })
    }

    fn start(&self, file: &NewFile, _path: &str) -> Vec<Vec<String>> {
        vec![["claude", "--resume", file.id.as_str()].map(str::to_owned).to_vec()]
    }

    fn unattended(&self, file: &NewFile, _: &str, run: &Unattended) -> Option<Vec<Vec<String>>> {
        let mut words =
            ["claude", "--print", "--resume", file.id.as_str()].map(str::to_owned).to_vec();
        run.add_model(&mut words, "--model");
        let allowed: &[&str] = match run.everything {
            true => &["--dangerously-skip-permissions"],
            false => &["--permission-mode", "acceptEdits"],
        };
        words.extend(allowed.iter().map(|word| (*word).to_owned()));
        Some(vec![words])
    }
}

/// Returns the name of the directory in which Claude Code stores the sessions of the working
/// directory `cwd`. Each UTF-16 code unit becomes one character of the name, as in JavaScript.
fn folder_of(cwd: &str) -> String {
    let composed: String = cwd.nfc().collect();
    let plain = |unit: u16| match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
        _ => '-',
    };
    let name: String = composed.encode_utf16().map(plain).collect();
    match name.get(..FOLDER) {
        Some(begun) if name.len() > FOLDER => format!("{begun}-{}", base36(&composed)),
        _ => name,
    }
}

/// Returns a 32-bit hash of a path, written in base 36. It distinguishes long paths with the same
/// beginning.
fn base36(text: &str) -> String {
    let step = |hash: i32, unit: u16| {
        hash.wrapping_shl(5).wrapping_sub(hash).wrapping_add(i32::from(unit))
    };
    let mut left = text.encode_utf16().fold(0, step).unsigned_abs();
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit(left % 36, 36));
        left /= 36;
        if left == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

struct Writer {
    file: NewFile,
    session_id: String,
    /// The id of the record that the export wrote last; `None` before the first record.
    tip: Option<String>,
    /// Hashes of the record ids that were written since the last compaction. Ids from before the
    /// compaction may occur again, because messages that the compaction retained are written again
    /// with their old ids. With a new id, Anthropic's Agent SDK would mistake such a message for
    /// the rest of the response that it repeats.
    used_ids: HashSet<u64>,
    hasher: RandomState,
    /// The id of the model's response to which the next written blocks belong. `None` if the next
    /// block begins a new response.
    answer: Option<String>,
    count: u64,
    losses: Losses,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RecordIds<'a> {
    #[serde(borrow)]
    subtype: Field<'a>,
    #[serde(borrow)]
    uuid: Field<'a>,
    #[serde(borrow, rename = "parentUuid")]
    parent: Field<'a>,
    #[serde(borrow, rename = "logicalParentUuid")]
    logical_parent: Field<'a>,
    #[serde(borrow, rename = "sessionId")]
    session_id: Field<'a>,
    #[serde(borrow, rename = "session_id")]
    session_id_too: Field<'a>,
    #[serde(borrow, rename = "isSidechain")]
    sidechain: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SideRecord<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow, rename = "sessionId")]
    session_id: Field<'a>,
}

impl Writer {
    fn new(file: &NewFile) -> Self {
        Self {
            file: file.clone(),
            session_id: quoted(file.id.as_str()),
            tip: None,
            used_ids: HashSet::new(),
            hasher: RandomState::new(),
            answer: None,
            count: 0,
            losses: Losses::new(),
        }
    }

    fn splice(&mut self, line: &str, out: &mut dyn Write) -> Option<io::Result<()>> {
        let fields: RecordIds<'_> = serde_json::from_str(line).ok()?;
        let mut splice = Splice::default();
        let parent = self.tip.as_deref().map_or_else(|| "null".to_owned(), quoted);
        if fields.subtype.is("compact_boundary") && fields.parent.text().is_none() {
            // For readers of the file, the chain of parents ends at this record. Only the logical
            // parent refers to the record before.
            self.used_ids.clear();
            splice.set(line, "parentUuid", fields.parent, "null".to_owned());
            splice.set(line, "logicalParentUuid", fields.logical_parent, parent);
        } else {
            splice.set(line, "parentUuid", fields.parent, parent);
        }
        let id = self.id_of(fields.uuid);
        splice.set(line, "uuid", fields.uuid, quoted(&id));
        splice.set(line, "sessionId", fields.session_id, self.session_id.clone());
        if fields.session_id_too.0.is_some() {
            splice.set(line, "session_id", fields.session_id_too, self.session_id.clone());
        }
        if fields.sidechain.0.is_some() {
            // In the exported file, the records of a sub-agent are the main chain.
            splice.set(line, "isSidechain", fields.sidechain, "false".to_owned());
        }
        self.tip = Some(id);
        self.count += 1;
        Some(splice.write(line, out))
    }

    /// Returns the id under which a record is exported. It is the record's own id if no record
    /// since the last compaction has it, otherwise a new id.
    fn id_of(&mut self, own: Field<'_>) -> String {
        match own.text() {
            Some(own) if self.used_ids.insert(self.hasher.hash_one(&*own)) => own.into_owned(),
            _ => self.file.fresh_id(self.count),
        }
    }

    fn write_message(
        &mut self,
        kind: &str,
        ts: Timestamp,
        message: &Value,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let parent = self.tip.as_deref().map_or_else(|| "null".to_owned(), quoted);
        let id = self.file.fresh_id(self.count);
        writeln!(
            out,
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"userType\":\"external\",\
             \"cwd\":{},\"sessionId\":{},\"version\":\"{VERSION}\",\"entrypoint\":\"cli\",\
             \"type\":\"{kind}\",\"message\":{message},\"uuid\":\"{id}\",\"timestamp\":\"{ts:.3}\"}}",
            quoted(&self.file.cwd),
            self.session_id,
        )?;
        self.tip = Some(id);
        self.count += 1;
        Ok(())
    }

    /// Writes a message of the model. Like Claude Code, writes one record for each block of the
    /// message.
    fn write_blocks(
        &mut self,
        timed: &TimedMessage<'_>,
        blocks: Vec<Value>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let fresh = || format!("msg_{}", self.file.fresh_id(self.count).replace('-', ""));
        let id = self.answer.take().unwrap_or_else(fresh);
        for block in blocks {
            let calls = block.get("type") == Some(&json!("tool_use"));
            let message = json!({
                "id": id, "type": "message", "role": "assistant", "model": "unknown",
                "content": [block],
                "stop_reason": if calls { "tool_use" } else { "end_turn" },
                "stop_sequence": null,
                "usage": {"input_tokens": 0, "output_tokens": 0,
                    "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
            });
            self.write_message("assistant", timed.ts, &message, out)?;
        }
        self.answer = Some(id);
        Ok(())
    }
}

impl FileWriter for Writer {
    fn begin(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    fn record(&mut self, event: &Event, out: &mut dyn Write) -> io::Result<bool> {
        self.answer = None;
        let line = event.data.get();
        if let Some(written) = self.splice(line, out) {
            return written.map(|()| true);
        }
        let written = plainer(line).and_then(|line| self.splice(&line, out));
        written.map_or(Ok(false), |written| written.map(|()| true))
    }

    fn message(&mut self, timed: &TimedMessage<'_>, out: &mut dyn Write) -> io::Result<()> {
        if timed.message.role == Role::System {
            pieces::lose(EventType::SYSTEM_MESSAGE.as_str(), &mut self.losses);
            return Ok(());
        }
        let mut pieces = pieces::of_message(timed.message, &mut self.losses);
        if timed.message.role == Role::Assistant {
            let is_own = |piece: &mut Piece| !matches!(piece, Piece::Result { .. });
            let own: Vec<_> = pieces.extract_if(.., is_own).collect();
            self.write_blocks(timed, own.iter().map(block).collect(), out)?;
        }
        if pieces.is_empty() {
            return Ok(());
        }
        self.answer = None;
        let blocks: Vec<_> = pieces.iter().map(block).collect();
        let content = match pieces.as_slice() {
            [Piece::Text(text)] => json!(text),
            _ => Value::Array(blocks),
        };
        self.write_message("user", timed.ts, &json!({"role": "user", "content": content}), out)
    }

    fn side(&mut self, line: &str, out: &mut dyn Write) -> io::Result<()> {
        let Ok(side) = serde_json::from_str::<SideRecord<'_>>(line) else { return Ok(()) };
        if !side.kind.text().is_some_and(|kind| CARRIED.contains(&&*kind)) {
            return Ok(());
        }
        let mut splice = Splice::default();
        splice.set(line, "sessionId", side.session_id, self.session_id.clone());
        splice.write(line, out)
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<BTreeMap<String, u64>> {
        if let Some(title) = &self.file.title {
            let (title, id) = (quoted(title), &self.session_id);
            writeln!(
                out,
                "{{\"type\":\"custom-title\",\"customTitle\":{title},\"sessionId\":{id}}}"
            )?;
        }
        Ok(std::mem::take(&mut self.losses))
    }
}

fn block(piece: &Piece) -> Value {
    match piece {
        Piece::Text(text) => json!({"type": "text", "text": text}),
        Piece::Image { media_type, base64 } => {
            let source = json!({"type": "base64", "media_type": media_type, "data": base64});
            json!({"type": "image", "source": source})
        }
        Piece::Call { id, name, arguments } => json!({
            "type": "tool_use", "id": pieces::plain_id(id), "name": name,
            "input": pieces::object(arguments),
        }),
        Piece::Result { call_id, content, is_error, .. } => {
            let content = match content.as_slice() {
                [Piece::Text(text)] => json!(text),
                pieces => pieces.iter().map(block).collect(),
            };
            json!({
                "type": "tool_result", "tool_use_id": pieces::plain_id(call_id),
                "content": content, "is_error": is_error,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_named_as_claude_code_names_them() {
        assert_eq!(folder_of("/home/dev/work.space_a/x"), "-home-dev-work-space-a-x");
        assert_eq!(folder_of("/tmp/e\u{301}\u{1f600}"), "-tmp----");
        let long = format!("/{}", "a".repeat(250));
        let name = folder_of(&long);
        assert!(name.len() > 201 && name.starts_with(&format!("-{}-", "a".repeat(199))), "{name}");
    }
}
