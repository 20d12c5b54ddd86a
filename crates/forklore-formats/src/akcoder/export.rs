//! Writes ak-coder's session files: one message per line, in the form of OpenAI's API, without a
//! line break at the end. If ak-coder wrote the original session, the file is named as ak-coder
//! names a fork.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use forklore_core::export::{
    Export, FileWriter, Home, NewFile, NoDestination, Placement, TimedMessage,
};
use forklore_core::{Event, EventType, Role};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::pieces::{self, Losses, Piece};

/// Maximum length of a session's name, in bytes. The name of a fork contains the name of its
/// original, and a file's name can have 255 bytes.
const NAME: usize = 235;
/// Maximum length of the readable part of a folder's name, in characters.
const FOLDER: usize = 32;
/// Number of hexadecimal digits of the hash in a folder's name.
const HASH: usize = 12;

impl Export for super::AkCoder {
    fn writer(&self, _file: &NewFile) -> Box<dyn FileWriter> {
        Box::new(Writer { is_first: true, losses: Losses::new() })
    }

    fn home(&self) -> Option<Home> {
        Some(Home { variable: "HOME", holds: true, folder: ".ak-coder" })
    }

    fn destination(
        &self,
        file: &NewFile,
        _read: &dyn Fn(&Path) -> Option<String>,
    ) -> Result<Placement, NoDestination> {
        let path = ["history", "workspaces", &folder_of(&file.cwd)].iter().collect::<PathBuf>();
        let path = path.join(format!("{}.jsonl", name_of(file)));
        Ok(Placement { path, companions: Vec::new() })
    }

    fn names_parent(&self) -> bool {
        true
    }

    fn start(&self, _file: &NewFile, _path: &str) -> Vec<Vec<String>> {
        vec![vec!["ak-coder".to_owned()]]
    }

    /// Returns the command that the user must enter in ak-coder to resume the session, because
    /// ak-coder has no program argument for a session.
    fn first_input(&self, file: &NewFile) -> Option<String> {
        Some(format!("/resume {}", name_of(file)))
    }
}

/// Returns the name of the new session: `fork-<original>-<time>` if ak-coder wrote the original and
/// the name is plain and not too long, otherwise `session-<time>`.
fn name_of(file: &NewFile) -> String {
    let millis = file.now.as_millisecond();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let fork = file.original.as_ref().map(|original| original.native_id.as_str());
    let fork = fork.filter(|original| original.chars().all(is_plain));
    let fork = fork.map(|original| format!("fork-{original}-{millis}"));
    fork.filter(|name| name.len() <= NAME).unwrap_or_else(|| format!("session-{millis}"))
}

/// Returns the name of the folder in which ak-coder stores the sessions of the working directory
/// `cwd`. The name is the last component of `cwd` and a hash of the whole path.
fn folder_of(cwd: &str) -> String {
    let cwd = cwd.replace('\\', "/");
    let whole = match cwd.trim_end_matches('/') {
        "" => "/",
        whole => whole,
    };
    let hash: String = Sha256::digest(whole).iter().map(|byte| format!("{byte:02x}")).collect();
    let last = whole.rsplit('/').find(|part| !part.is_empty()).unwrap_or("root");
    let plain = |unit: u16| match u8::try_from(unit).map(char::from) {
        Ok(c) if c.is_ascii_alphanumeric() || "._-".contains(c) => c,
        _ => '_',
    };
    // Each UTF-16 code unit becomes one character of the name, as in JavaScript.
    let name: String = last.encode_utf16().take(FOLDER).map(plain).collect();
    format!("{name}-{}", hash.get(..HASH).unwrap_or_default())
}

struct Writer {
    is_first: bool,
    losses: Losses,
}

impl Writer {
    fn line(&mut self, line: &str, out: &mut dyn Write) -> io::Result<()> {
        if !std::mem::take(&mut self.is_first) {
            out.write_all(b"\n")?;
        }
        out.write_all(line.as_bytes())
    }
}

impl FileWriter for Writer {
    fn begin(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    fn record(&mut self, event: &Event, out: &mut dyn Write) -> io::Result<bool> {
        self.line(event.data.get(), out).map(|()| true)
    }

    fn message(&mut self, timed: &TimedMessage<'_>, out: &mut dyn Write) -> io::Result<()> {
        let role = timed.message.role;
        if role == Role::System {
            // ak-coder generates the system message itself.
            pieces::lose(EventType::SYSTEM_MESSAGE.as_str(), &mut self.losses);
            return Ok(());
        }
        let mut pieces = pieces::of_message(timed.message, &mut self.losses);
        let is_result = |piece: &mut Piece| matches!(piece, Piece::Result { .. });
        let results: Vec<_> = pieces.extract_if(.., is_result).collect();
        if !pieces.is_empty() {
            let message = match role {
                Role::Assistant => assistant(&pieces),
                _ => user(&pieces),
            };
            self.line(&message.to_string(), out)?;
        }
        for result in results {
            if let Some(message) = tool(&result, &mut self.losses) {
                self.line(&message.to_string(), out)?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, _out: &mut dyn Write) -> io::Result<BTreeMap<String, u64>> {
        Ok(std::mem::take(&mut self.losses))
    }
}

/// Converts a message of the user. Images become data URLs in the field `images`.
fn user(pieces: &[Piece]) -> Value {
    let images: Vec<_> = pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Image { media_type, base64 } => {
                Some(format!("data:{media_type};base64,{base64}"))
            }
            _ => None,
        })
        .collect();
    let mut message = json!({"role": "user", "content": pieces::text_of(pieces)});
    if let (false, Some(fields)) = (images.is_empty(), message.as_object_mut()) {
        fields.insert("images".to_owned(), json!(images));
    }
    message
}

fn assistant(pieces: &[Piece]) -> Value {
    let calls: Vec<_> = pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Call { id, name, arguments } => Some(json!({
                "id": pieces::plain_id(id), "type": "function",
                "function": {"name": name, "arguments": pieces::object_text(arguments)},
            })),
            _ => None,
        })
        .collect();
    let mut message = json!({"role": "assistant", "content": pieces::text_of(pieces)});
    if let (false, Some(fields)) = (calls.is_empty(), message.as_object_mut()) {
        fields.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    message
}

/// Converts a tool result. ak-coder's form of a result has only text, and no mark of failure.
/// Returns `None` if the part is no tool result.
fn tool(result: &Piece, losses: &mut Losses) -> Option<Value> {
    let Piece::Result { call_id, name, content, is_error } = result else { return None };
    pieces::lose_failure(*is_error, losses);
    pieces::lose_images(content, losses);
    let mut message = json!({
        "role": "tool", "content": pieces::text_of(content),
        "tool_call_id": pieces::plain_id(call_id),
    });
    if let (Some(name), Some(fields)) = (name, message.as_object_mut()) {
        fields.insert("name".to_owned(), json!(name));
    }
    Some(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_named_as_ak_coder_names_them() {
        assert_eq!(folder_of("/"), "root-8a5edab28263");
        assert_eq!(folder_of("/home/dev/shop/"), folder_of("/home/dev/shop"));
        let name = folder_of("/home/dev/Über den Plan 2");
        assert!(name.starts_with("_ber_den_Plan_2-") && name.len() == 16 + HASH, "{name}");
        let long = folder_of(&format!("/{}", "a".repeat(40)));
        assert_eq!(long.len(), FOLDER + 1 + HASH);
    }
}
