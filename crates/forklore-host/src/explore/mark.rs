//! Records in a continuation what its judge said.

use forklore_api::Continuation;
use forklore_core::{Data, EventType};
use forklore_engine::{Engine, NewEvent};
use serde_json::json;

/// Appends the mark of a row to the log of its session, as evidence (docs/semantics.md, Marks).
/// Without the mark, a later comparison could not show it.
///
/// # Errors
/// A message that explains why the mark was not recorded.
pub async fn record(engine: &Engine, judge: &str, row: &Continuation) -> Result<(), String> {
    let Some(session) = row.session_id.clone() else { return Ok(()) };
    let mut mark = json!({
        "name": "judged",
        "judge": judge,
        "score": row.score,
        "error": row.error,
    });
    if let (Some(work), Some(mark)) = (&row.work, mark.as_object_mut()) {
        mark.extend([
            ("tests".to_owned(), json!(work.tests)),
            ("files".to_owned(), json!(work.files)),
            ("added".to_owned(), json!(work.added)),
            ("removed".to_owned(), json!(work.removed)),
            ("seconds".to_owned(), json!(row.seconds)),
        ]);
    }
    let data = Data::of(&mark).map_err(|error| error.to_string())?;
    let event = NewEvent::new(EventType::WORKFLOW_EVENT, data);
    let engine = engine.clone();
    let appended = tokio::task::spawn_blocking(move || engine.append(&session, &event.into()));
    let appended = appended.await.map_err(|error| error.to_string())?;
    appended.map(drop).map_err(|error| format!("its mark was not recorded: {error}"))
}
