//! Reads ak-coder's sessions as ak-coder does: `resolveWorkspaceHistoryDir`, `FileSessionStore` and
//! the `ChatMessage` of its ports, which goes to OpenAI's API as it is.

use std::fs;
use std::path::{Path, PathBuf};

use forklore_core::{Data, Message, Part, Role};
use serde::Deserialize;
use sha2::{Digest, Sha256};

/// A message of a session file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChatMessage {
    pub(crate) role: String,
    pub(crate) content: String,
    #[serde(default)]
    pub(crate) images: Vec<String>,
    #[serde(default)]
    pub(crate) tool_calls: Vec<ToolCall>,
    pub(crate) tool_call_id: Option<String>,
    pub(crate) name: Option<String>,
}

/// A call of a tool in a message of the model.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolCall {
    pub(crate) id: String,
    r#type: String,
    pub(crate) function: Function,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) arguments: String,
}

/// Returns the directory with the sessions of a workspace.
pub(crate) fn history(home: &Path, workspace: &Path) -> PathBuf {
    let path = workspace.to_str().unwrap();
    let hash: String = Sha256::digest(path).iter().map(|byte| format!("{byte:02x}")).collect();
    let base = path.rsplit('/').next().unwrap();
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let safe: String = base.chars().map(|c| if is_safe(c) { c } else { '_' }).take(32).collect();
    home.join(".ak-coder/history/workspaces").join(format!("{safe}-{}", &hash[..12]))
}

/// Returns the ids of the sessions that ak-coder lists.
pub(crate) fn list(history: &Path) -> Vec<String> {
    let files = fs::read_dir(history).unwrap().map(|entry| entry.unwrap().file_name());
    let ids = files.filter_map(|name| Some(name.to_str()?.strip_suffix(".jsonl")?.to_owned()));
    let mut ids: Vec<_> = ids.collect();
    ids.sort();
    ids
}

/// Reads a session. `/resume` gets its id as one word.
pub(crate) fn load(history: &Path, session: &str) -> Vec<ChatMessage> {
    assert!(!session.contains(char::is_whitespace), "{session}");
    read(&fs::read_to_string(history.join(format!("{session}.jsonl"))).unwrap())
}

/// Reads the text of a session file.
pub(crate) fn read(file: &str) -> Vec<ChatMessage> {
    // A file that ak-coder saved has a line break between two messages only.
    assert!(!file.ends_with('\n'));
    let lines = file.split('\n').filter(|line| !line.trim().is_empty());
    let messages: Vec<ChatMessage> = lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
        .collect();
    let mut open: Vec<&str> = Vec::new();
    for message in &messages {
        check(message);
        match &*message.role {
            "tool" => {
                let call = message.tool_call_id.as_deref().unwrap();
                let at = open.iter().position(|open| *open == call);
                open.remove(at.unwrap_or_else(|| panic!("no call: {message:?}")));
            }
            // OpenAI's API refuses a request in which something else follows a call.
            _ => assert_eq!(open, [""; 0], "{message:?}"),
        }
        open.extend(message.tool_calls.iter().map(|call| &*call.id));
    }
    assert_eq!(open, [""; 0]);
    messages
}

fn check(message: &ChatMessage) {
    assert!(["system", "user", "assistant", "tool"].contains(&&*message.role), "{message:?}");
    assert_eq!(message.tool_call_id.is_some(), message.role == "tool", "{message:?}");
    assert!(message.name.is_none() || message.role == "tool", "{message:?}");
    assert!(message.name.as_deref() != Some(""), "{message:?}");
    assert!(message.images.is_empty() || message.role == "user", "{message:?}");
    assert!(message.tool_calls.is_empty() || message.role == "assistant", "{message:?}");
    for call in &message.tool_calls {
        assert_eq!(call.r#type, "function");
        let arguments: serde_json::Value = serde_json::from_str(&call.function.arguments).unwrap();
        assert!(arguments.is_object(), "{message:?}");
    }
}

/// Returns the messages in the common form.
pub(crate) fn messages(session: &[ChatMessage]) -> Vec<Message> {
    let quoted = |text: &str| Data::parse(&serde_json::to_string(text).unwrap()).unwrap();
    let messages = session.iter().map(|message| {
        let role = match &*message.role {
            "system" => Role::System,
            "user" => Role::User,
            "assistant" => Role::Assistant,
            _ => Role::Tool,
        };
        if let Some(call_id) = message.tool_call_id.clone() {
            let (content, name) = (quoted(&message.content), message.name.clone());
            let (is_error, synthetic) = (false, false);
            let result = Part::ToolResult { call_id, name, content, is_error, synthetic };
            return Message::parts(role, vec![result]);
        }
        let mut parts = vec![Part::Text { text: message.content.clone() }];
        parts.extend(message.images.iter().map(|image| Part::Other { value: quoted(image) }));
        parts.extend(message.tool_calls.iter().map(|call| {
            let arguments = Data::parse(&call.function.arguments).unwrap();
            let (id, name) = (call.id.clone(), call.function.name.clone());
            Part::ToolCall { id, name, arguments }
        }));
        Message::parts(role, parts)
    });
    messages.collect()
}
