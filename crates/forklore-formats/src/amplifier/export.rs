//! Writes Amplifier's session directories: `transcript.jsonl` with one message per line, and a
//! `metadata.json` that names the original.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use forklore_core::export::{
    Export, FileWriter, Home, NewFile, NoDestination, Placement, TimedMessage,
};
use forklore_core::{Event, EventType, Role};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::pieces::{self, Losses, Piece};

/// Fields of the original's `metadata.json` that also hold for a copy of the session.
const CARRIED: [&str; 3] = ["bundle", "profile", "model"];

impl Export for super::Amplifier {
    fn writer(&self, _file: &NewFile) -> Box<dyn FileWriter> {
        Box::new(Writer { losses: Losses::new() })
    }

    fn home(&self) -> Option<Home> {
        Some(Home { variable: "HOME", holds: true, folder: ".amplifier" })
    }

    fn destination(
        &self,
        file: &NewFile,
        read: &dyn Fn(&Path) -> Option<String>,
    ) -> Result<Placement, NoDestination> {
        let sessions = PathBuf::from("projects").join(folder_of(&file.cwd)).join("sessions");
        let folder = sessions.join(file.id.as_str());
        let original = file
            .original
            .as_ref()
            .and_then(|original| read(&sessions.join(&original.native_id).join("metadata.json")));
        let original = original.and_then(|text| serde_json::from_str(&text).ok());
        let metadata = metadata(file, original.unwrap_or_default());
        let companions = vec![(folder.join("metadata.json"), format!("{metadata:#}"))];
        Ok(Placement { path: folder.join("transcript.jsonl"), companions })
    }

    fn names_parent(&self) -> bool {
        true
    }

    fn start(&self, file: &NewFile, _path: &str) -> Vec<Vec<String>> {
        let words = ["amplifier", "session", "resume", file.id.as_str()];
        vec![words.map(str::to_owned).to_vec()]
    }
}

/// Returns the name of the folder in which Amplifier stores the sessions of the working directory
/// `cwd`.
fn folder_of(cwd: &str) -> String {
    let name = cwd.replace(['/', '\\'], "-").replace(':', "");
    if name.starts_with('-') { name } else { format!("-{name}") }
}

/// Returns the document that describes the new session. `original` has the fields of the original
/// session's document. The fields `parent_id` and `forked_at` together mark the new session as a
/// fork.
fn metadata(file: &NewFile, mut original: Map<String, Value>) -> Value {
    let now = time(file.now);
    let mut fields = Map::new();
    let mut set = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    set("session_id", json!(file.id.as_str()));
    if let Some(parent) = &file.original {
        set("parent_id", json!(parent.native_id));
        set("forked_at", json!(now));
    }
    set("created", json!(now));
    set("working_dir", json!(file.cwd));
    if let Some(title) = &file.title {
        set("name", json!(title));
    }
    for name in CARRIED {
        if let Some(value) = original.remove(name) {
            set(name, value);
        }
    }
    Value::Object(fields)
}

fn time(ts: Timestamp) -> String {
    format!("{ts:.3}").replace('Z', "+00:00")
}

struct Writer {
    losses: Losses,
}

impl FileWriter for Writer {
    fn begin(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    fn record(&mut self, event: &Event, out: &mut dyn Write) -> io::Result<bool> {
        writeln!(out, "{}", event.data.get()).map(|()| true)
    }

    fn message(&mut self, timed: &TimedMessage<'_>, out: &mut dyn Write) -> io::Result<()> {
        let role = timed.message.role;
        if role == Role::System {
            // Amplifier stores no system messages, and generates them itself.
            pieces::lose(EventType::SYSTEM_MESSAGE.as_str(), &mut self.losses);
            return Ok(());
        }
        let mut pieces = pieces::of_message(timed.message, &mut self.losses);
        let is_result = |piece: &mut Piece| matches!(piece, Piece::Result { .. });
        let results: Vec<_> = pieces.extract_if(.., is_result).collect();
        if !pieces.is_empty() {
            serde_json::to_writer(&mut *out, &spoken(role, &pieces, timed.ts))?;
            out.write_all(b"\n")?;
        }
        for result in results {
            if let Some(message) = tool(&result, timed.ts, &mut self.losses) {
                writeln!(out, "{message}")?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, _out: &mut dyn Write) -> io::Result<BTreeMap<String, u64>> {
        Ok(std::mem::take(&mut self.losses))
    }
}

/// A message of the user or the model in a transcript.
#[derive(Serialize)]
struct Spoken<'a> {
    content: Spoke<'a>,
    role: Role,
    timestamp: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
}

/// The content of a message: a text, or a list of blocks.
#[derive(Serialize)]
#[serde(untagged)]
enum Spoke<'a> {
    Text(&'a str),
    Blocks(Vec<Block<'a>>),
}

/// A block of the content: a text, an image or a call.
#[derive(Default, Serialize)]
struct Block<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Cow<'a, str>>,
    /// The arguments of a call, in the text in which the model wrote them.
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    r#type: &'static str,
}

/// An element of `tool_calls`.
#[derive(Serialize)]
struct Call<'a> {
    arguments: Box<RawValue>,
    id: Cow<'a, str>,
    tool: &'a str,
}

/// Converts a message of the user or the model. A call is a block of the content and also an
/// element of `tool_calls`, as Amplifier writes it.
fn spoken(role: Role, pieces: &[Piece], ts: Timestamp) -> Spoken<'_> {
    let content = match pieces {
        [Piece::Text(text)] => Spoke::Text(text),
        pieces => Spoke::Blocks(pieces.iter().filter_map(block).collect()),
    };
    let calls = pieces.iter().filter_map(|piece| match piece {
        Piece::Call { id, name, arguments } => {
            let (id, arguments) = (pieces::plain_id(id), pieces::raw_object(arguments));
            Some(Call { arguments, id, tool: name })
        }
        _ => None,
    });
    Spoken { content, role, timestamp: time(ts), tool_calls: calls.collect() }
}

fn block(piece: &Piece) -> Option<Block<'_>> {
    Some(match piece {
        Piece::Text(text) => Block { text: Some(text), r#type: "text", ..Block::default() },
        Piece::Image { media_type, base64 } => {
            let source = json!({"type": "base64", "media_type": media_type, "data": base64});
            Block { source: Some(source), r#type: "image", ..Block::default() }
        }
        Piece::Call { id, name, arguments } => Block {
            id: Some(pieces::plain_id(id)),
            input: Some(pieces::raw_object(arguments)),
            name: Some(name),
            r#type: "tool_call",
            ..Block::default()
        },
        Piece::Result { .. } => return None,
    })
}

/// Converts a tool result. Amplifier's form of a result has only text, and no mark of failure.
/// Returns `None` if the part is no tool result.
fn tool(result: &Piece, ts: Timestamp, losses: &mut Losses) -> Option<Value> {
    let Piece::Result { call_id, name, content, is_error } = result else { return None };
    pieces::lose_failure(*is_error, losses);
    pieces::lose_images(content, losses);
    Some(json!({
        "role": "tool", "name": name.as_deref().unwrap_or_default(),
        "tool_call_id": pieces::plain_id(call_id), "content": pieces::text_of(content),
        "timestamp": time(ts),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_named_as_amplifier_names_them() {
        assert_eq!(folder_of("/home/dev/shop"), "-home-dev-shop");
        assert_eq!(folder_of("C:\\work\\shop"), "-C-work-shop");
    }
}
