//! `gc --files`: removes the snapshots of files that no session and no undo needs.

use forklore::api::CollectedFiles;
use forklore::core::ErrorKind;

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::{Output, Page, Tone, bytes, count};

pub(super) fn run(dry_run: bool, app: &App, output: &mut Output) -> Result<()> {
    if !app.has_own_files()? {
        let message = "others may use the snapshots of a store in a database or on a server";
        return Err(Failure::refused(ErrorKind::Unsupported, message)
            .or_try("forklore --store PATH gc --files"));
    }
    let collected = app.files()?.collect(app.engine()?, dry_run)?;
    output.answer(&collected, |page| show(page, &collected))?;
    if dry_run && collected.snapshots > 0 {
        output.hint("forklore gc --files", "do this");
    }
    Ok(())
}

/// Puts onto the page which snapshots were removed.
pub(super) fn show(page: &mut Page, collected: &CollectedFiles) {
    let needed = format!("  {} needed", count(collected.needed, "snapshot"));
    if collected.snapshots == 0 && collected.freed_bytes == 0 {
        page.put(Tone::Plain, "Every snapshot is needed.").put(Tone::Dim, needed).end();
        return;
    }
    let (tone, freed) =
        if collected.dry_run { (Tone::Warn, "Would free about ") } else { (Tone::Good, "Freed ") };
    let of = format!("{} of {}", bytes(collected.freed_bytes), bytes(collected.bytes));
    page.put(tone, freed).put(Tone::Plain, of);
    let removed = count(collected.snapshots, "snapshot");
    page.put(Tone::Dim, format!("  {removed} that nothing needs,{needed}")).end();
}
