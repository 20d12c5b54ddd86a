//! What the fake model does when an agent offers it forklore's tools: it searches for an earlier
//! session, and forks the session that it found.

use serde_json::{Value, json};

use crate::atoms::text_of;

/// The word for which the model searches.
const WORD: &str = "lighthouse";

/// A call of a tool of forklore.
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

/// Returns the tools that a request offers, each with its group, which may be empty.
fn offered(body: &Value) -> Vec<(String, String)> {
    let mut offered = Vec::new();
    for tool in list(body, "tools") {
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
    results.map(text_of).collect()
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
