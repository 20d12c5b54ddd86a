//! What the fake model does with the tools that an agent offers. With forklore's tools, it searches
//! for an earlier session, and forks the session that it found. With a shell, it makes the file
//! [`MADE`] if a message names this file, and then makes [changes] if the user asks for them.

use serde_json::{Value, json};

use crate::atoms::text_of;
use crate::changes;

/// The word for which the model searches.
const WORD: &str = "lighthouse";

/// The file that the model makes.
pub(crate) const MADE: &str = "made.txt";
/// The words of the user that name this file.
pub(crate) const MAKE: &str = "Please make the file made.txt";
/// The names that the agents have for their shells.
pub(crate) const SHELLS: [&str; 6] =
    ["bash", "Bash", "exec_command", "shell", "shell_command", "run_shell_command"];

/// A call of a tool.
pub(crate) struct Call {
    pub(crate) id: String,
    /// The group of tools that the name belongs to, for providers that have groups.
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
    pub(crate) arguments: Value,
}

/// Returns the next call, according to the results that the request contains. `None` if the agent
/// offers no such tool, or after the last call.
pub(crate) fn next(body: &Value) -> Option<Call> {
    let results = results(body);
    let text = body.to_string();
    if text.contains(changes::PROMPT) {
        return changes::next(&names(body), self::results(&since(body, changes::PROMPT)).len());
    }
    if results.is_empty() && text.contains(MADE) {
        return shell(&names(body));
    }
    let (tool, arguments) = match results.as_slice() {
        [] => ("search", json!({"query": WORD})),
        [found] => ("fork", json!({"session": session(found)?, "at": "turn:1"})),
        _ => return None,
    };
    let (namespace, name) = offered(body).into_iter().find(|(namespace, name)| {
        name.ends_with(tool) && (name.contains("forklore") || namespace.contains("forklore"))
    })?;
    let namespace = (!namespace.is_empty()).then_some(namespace);
    Some(Call { id: format!("call_{}", results.len()), namespace, name, arguments })
}

/// Returns a call of the agent's shell that makes the file.
fn shell(offered: &[String]) -> Option<Call> {
    let name = offered.iter().find(|name| SHELLS.contains(&name.as_str()))?;
    let arguments = in_shell(name, &format!("echo made > {MADE}"));
    Some(Call { id: "call_0".to_owned(), namespace: None, name: name.clone(), arguments })
}

/// Returns the arguments with which the shell `name` runs a line.
pub(crate) fn in_shell(name: &str, line: &str) -> Value {
    match name {
        "exec_command" => json!({"cmd": line}),
        "shell" => json!({"command": ["bash", "-c", line]}),
        _ => json!({"command": line, "description": "changes files"}),
    }
}

/// Returns a request without the messages before the first one that contains `text`.
fn since(body: &Value, text: &str) -> Value {
    let mut body = body.clone();
    for name in ["messages", "input", "contents"] {
        if let Some(Value::Array(items)) = body.get_mut(name) {
            let first = items.iter().position(|item| item.to_string().contains(text));
            items.drain(..first.unwrap_or(items.len()));
        }
    }
    body
}

/// Returns the names of the tools that a request offers.
fn names(body: &Value) -> Vec<String> {
    offered(body).into_iter().map(|(_, name)| name).collect()
}

/// Returns the tools that a request offers, each with its group, which may be empty.
fn offered(body: &Value) -> Vec<(String, String)> {
    let mut offered = Vec::new();
    for tool in list(body, "tools") {
        let declared = list(tool, "functionDeclarations").iter();
        offered.extend(declared.map(|one| (String::new(), word(one, "name").to_owned())));
        match word(tool, "type") {
            "namespace" => {
                let group = word(tool, "name");
                let inside = list(tool, "tools").iter();
                offered.extend(inside.map(|one| (group.to_owned(), word(one, "name").to_owned())));
            }
            _ => {
                let function = tool.get("function").unwrap_or(tool);
                offered.push((String::new(), word(function, "name").to_owned()));
            }
        }
    }
    offered
}

/// Returns the texts of the tool results in a request, in any provider's format.
fn results(body: &Value) -> Vec<String> {
    let messages = list(body, "messages").iter();
    let blocks = messages.clone().flat_map(|message| list(message, "content"));
    let results = list(body, "input").iter().chain(messages).chain(blocks);
    let results = results.filter(|item| {
        word(item, "type") == "function_call_output"
            || word(item, "type") == "tool_result"
            || word(item, "role") == "tool"
    });
    let contents = list(body, "contents").iter().flat_map(|content| list(content, "parts"));
    let responses = contents.filter_map(|part| part.get("functionResponse"));
    results.map(text_of).chain(responses.map(Value::to_string)).collect()
}

/// Returns the id of the first session in the result of a search.
fn session(result: &str) -> Option<String> {
    // Some agents put the answer into JSON of their own.
    let result = result.replace('\\', "");
    let (_, rest) = result.split_once("\"session_id\":\"")?;
    Some(rest.split_once('"')?.0.to_owned())
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn word<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
