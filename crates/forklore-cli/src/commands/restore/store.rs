//! `restore BACKUP`: creates a store from a backup.

use std::path::Path;

use forklore::api::RestoredStore;
use forklore::{StoreUrl, blocking};
use forklore_sanitize::shell::quoted;

use crate::app::App;
use crate::commands::backup;
use crate::failure::Result;
use crate::output::{Output, Tone};

/// Creates the store of this run from the backup at `from`.
pub(super) fn run(from: &Path, app: &App, output: &mut Output) -> Result<()> {
    let url = app.store_url()?;
    let bar = output.progress();
    let copy = blocking::restore_backup(from, &url, &mut |step| backup::show(&bar, step));
    drop(bar);
    let copy = copy?;
    let path = url.path().map_or_else(|| url.location().into(), Path::to_owned);
    let answer = RestoredStore {
        from: from.to_owned(),
        store: backup::store(&url, &path),
        sessions: copy.sessions,
        events: copy.events,
        bytes: copy.bytes,
    };
    output.answer(&answer, |page| {
        let counts = (answer.sessions, answer.events, answer.bytes);
        backup::counted(page, "Restored ", counts);
        page.put(Tone::Plain, " into ").put(Tone::Strong, path.display()).end();
    })?;
    let list = match &url {
        StoreUrl::Sqlite(_) if app.globals().store.is_none() => "forklore list --all".to_owned(),
        _ => format!("forklore --store {} list --all", quoted(&answer.store)),
    };
    output.hint(&list, "show its sessions");
    Ok(())
}
