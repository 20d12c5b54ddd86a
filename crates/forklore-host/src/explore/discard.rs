//! Deletes continuations that the user does not keep.

use forklore_core::Label;
use forklore_engine::{Delete, DeleteMode};

use super::Row;
use crate::{Host, Result};

/// Puts the forks of these continuations into the trash, from which `undelete` brings them back.
/// Returns the labels of the deleted forks.
///
/// # Errors
/// Returns an error if a fork has branches or runs a turn. The forks before that fork are then in
/// the trash.
pub async fn discard(host: &Host, rows: &[Row]) -> Result<Vec<Label>> {
    let mut deleted = Vec::new();
    for row in rows {
        let Some(session) = row.session_id.clone() else { continue };
        let mode = DeleteMode::default();
        let request = Delete { session, mode, dry_run: false, erase: false };
        host.run(move |engine| engine.delete(&request)).await?;
        deleted.extend(row.label.clone());
    }
    Ok(deleted)
}
