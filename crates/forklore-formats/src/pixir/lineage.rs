//! What the log of a fork in Pixir says about its parent: the `session_fork` with which it begins,
//! and the `branch_summary` behind the replayed events.

use forklore_core::Data;
use serde::Deserialize;
use serde_json::{Value, json};

/// The events of the parent that the log of a fork replays.
pub(super) struct Replayed<'a> {
    parent: &'a str,
    /// The number of the first and of the last event, in the parent.
    range: Option<(u64, u64)>,
    count: u64,
}

impl<'a> Replayed<'a> {
    /// Describes replayed events. `numbers` has the number of each in the parent and in the fork.
    pub(super) fn of(parent: &'a str, numbers: &[(u64, u64)], count: u64) -> Self {
        let ends = numbers.first().zip(numbers.last());
        Self { parent, range: ends.map(|((first, _), (last, _))| (*first, *last)), count }
    }
}

/// Returns the data of the `session_fork`. `root` is the root of the forks to which the parent
/// belongs, if the parent is itself a fork.
pub(super) fn session_fork(replayed: &Replayed<'_>, root: Option<&str>, workspace: &str) -> Value {
    json!({
        "parent_session_id": replayed.parent,
        "fork_root_session_id": root.unwrap_or(replayed.parent),
        "forked_to_seq": replayed.range.map_or(0, |(_, last)| last),
        "from_seq": replayed.range.map(|(first, _)| first),
        "replay_event_count": replayed.count,
        "parent_workspace": workspace, "child_workspace": workspace,
        "strategy": "replay_v1",
        "limitations": ["written by forklore; the replayed prefix remains authoritative"],
    })
}

/// Returns the root of the forks that an event of an imported log names, if the event is a
/// `session_fork`. Pixir routes all forks of this root to the same cache.
pub(super) fn fork_root(line: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Lineage {
        r#type: String,
        data: Root,
    }
    #[derive(Deserialize)]
    struct Root {
        fork_root_session_id: String,
    }
    let lineage: Lineage = serde_json::from_str(line).ok()?;
    let root = lineage.data.fork_root_session_id;
    (lineage.r#type == "session_fork" && !root.is_empty()).then_some(root)
}

/// Converts the summary that a fork in forklore recorded to the data of a `branch_summary`. `text`
/// is what the model receives. Returns `None` if the summary was brought from another branch, or
/// nothing was replayed.
pub(super) fn branch_summary(replayed: &Replayed<'_>, data: &Data, text: &str) -> Option<Value> {
    #[derive(Deserialize)]
    struct Recorded {
        strategy: String,
        summary: Value,
        #[serde(default)]
        brought_from: Option<String>,
    }
    let Recorded { strategy, summary, brought_from: None } = data.read().ok()? else { return None };
    let (from, to) = replayed.range?;
    let list = |name: &str| summary.get(name).cloned().unwrap_or_else(|| json!([]));
    Some(json!({
        "strategy": strategy, "summary": text,
        "parent_session_id": replayed.parent, "forked_to_seq": to,
        "range": {"from_seq": from, "to_seq": to}, "source_event_count": replayed.count,
        "files_touched": list("files"), "open_tasks": list("open_tasks"),
        "limitations": list("limitations"),
    }))
}
