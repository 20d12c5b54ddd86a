//! The history of a fork, as Claude Code's records.

use forklore::Engine;
use forklore::engine::ExportTo;
use forklore::import::PushedFile;
use forklore_core::{Selector, SessionId};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::failure::Result;

/// The dialect of Claude Code.
pub(super) const CLAUDE: &str = "claude";

#[derive(Deserialize)]
struct Ids<'a> {
    #[serde(borrow, default)]
    uuid: Option<&'a RawValue>,
}

/// Returns the id of a record, if it has one.
pub(super) fn uuid(line: &str) -> Option<String> {
    let ids: Ids<'_> = serde_json::from_str(line).ok()?;
    serde_json::from_str(ids.uuid?.get()).ok()
}

/// Writes the history that a fork inherits to `lines`, as records of the session `session_id`. Each
/// message names its original in `forkedFrom`, as in the copies that the SDK makes.
pub(super) fn write(
    engine: &Engine,
    file: &PushedFile,
    session_id: &str,
    lines: &mut Vec<String>,
) -> Result<()> {
    let (Some(first), Some(fork_of)) = (file.sessions.first(), &file.fork_of) else {
        return Ok(());
    };
    let header = engine.show(first)?;
    let inherited = i64::try_from(header.inherited.inheritable).unwrap_or(i64::MAX);
    if inherited == 0 {
        return Ok(());
    }
    for line in exported(engine, first, Some(Selector::Seq(inherited)), session_id)? {
        let forked = uuid(&line).and_then(|uuid| forked_from(&line, fork_of, &uuid));
        lines.push(forked.unwrap_or(line));
    }
    Ok(())
}

/// Returns the conversation of a session up to a position, as records of the session `session_id`.
pub(super) fn exported(
    engine: &Engine,
    session: &SessionId,
    at: Option<Selector>,
    session_id: &str,
) -> Result<Vec<String>> {
    let outgoing =
        engine.export_to(session, &ExportTo { dialect: CLAUDE.into(), at, cwd: None })?;
    let mut bytes = Vec::new();
    outgoing.write(&mut bytes)?;
    // The export has a new id, which occurs nowhere else.
    let (new, own) = (quoted(outgoing.file().id.as_str()), quoted(session_id));
    Ok(String::from_utf8_lossy(&bytes).lines().map(|line| line.replace(&new, &own)).collect())
}

/// Adds the original of a record to the record.
fn forked_from(line: &str, session_id: &str, uuid: &str) -> Option<String> {
    let (session_id, uuid) = (quoted(session_id), quoted(uuid));
    let body = line.strip_suffix('}')?;
    Some(format!(r#"{body},"forkedFrom":{{"sessionId":{session_id},"messageUuid":{uuid}}}}}"#))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
