//! The sessions that are measured.

use std::error::Error;
use std::sync::Arc;

use forklore_core::workspace::Workspace;
use forklore_core::{Data, EventType, SessionId};
use forklore_engine::{Create, Engine, Fork, NewEvent};
use forklore_store::Store;
use serde_json::json;

pub(crate) const EVENTS: usize = 100_000;
const SESSIONS: usize = 20;

/// Returns the events of one session: user messages, tool calls, results (one in 50 failed),
/// responses and usage.
fn events(session: usize) -> Result<Vec<NewEvent>, Box<dyn Error>> {
    let mut events = Vec::new();
    for at in 0..EVENTS / SESSIONS / 5 {
        let words = format!("turn {at} of session {session}: {}", "lorem ipsum dolor ".repeat(12));
        let tool = ["shell", "read_file", "search"].get(at % 3).copied().unwrap_or_default();
        let call = format!("c{at}");
        let all = [
            (EventType::USER_MESSAGE, json!({"content": words})),
            (EventType::TOOL_CALL, json!({"id": call, "name": tool, "arguments": {"at": at}})),
            (
                EventType::TOOL_RESULT,
                json!({"call_id": call, "content": words, "is_error": at % 50 == 0}),
            ),
            (EventType::ASSISTANT_MESSAGE, json!({"content": words})),
            (EventType::PROVIDER_USAGE, json!({"input": 1000, "output": 50, "cost": 0.01})),
        ];
        for (kind, data) in all {
            events.push(NewEvent::new(kind, Data::of(&data)?));
        }
    }
    Ok(events)
}

/// Builds ten families in a store. Each has a root and a fork in the middle of the root. Each of the two has
/// half of the family's own events.
pub(crate) fn grown(
    store: Arc<dyn Store>,
) -> Result<(Engine, SessionId, SessionId), Box<dyn Error>> {
    let engine = Engine::new(store);
    let mut last = None;
    for family in 0..SESSIONS / 2 {
        let root = engine.create(&Create::in_workspace(Workspace::new("/home/ann/demo")))?.id;
        engine.append(&root, &events(2 * family)?.into())?;
        let at = format!("turn:{}", EVENTS / SESSIONS / 10).parse()?;
        let child = engine.fork(&Fork::of(root.clone()).at(at))?.child_session_id;
        engine.append(&child, &events(2 * family + 1)?.into())?;
        last = Some((root, child));
    }
    let (root, child) = last.ok_or("no session")?;
    Ok((engine, root, child))
}
