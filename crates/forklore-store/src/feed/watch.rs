//! Waking readers of a feed in other processes than the one that writes.

use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::Bell;

/// Rings a bell whenever some files of a folder are written, by whatever process.
pub struct Watch {
    bell: Arc<Bell>,
    watcher: OnceLock<Option<RecommendedWatcher>>,
}

impl Watch {
    /// One that rings this bell, once it is begun.
    #[must_use]
    pub fn ringing(bell: Arc<Bell>) -> Self {
        Self { bell, watcher: OnceLock::new() }
    }

    /// Begins to watch the files of these names in a folder, unless it has begun. Where the system
    /// has no more watches to give, readers only look again from time to time.
    pub fn begin(&self, folder: &Path, names: &[OsString]) {
        self.watcher.get_or_init(|| {
            let (bell, names) = (Arc::clone(&self.bell), names.to_vec());
            let heard = move |event: notify::Result<Event>| {
                if event.is_ok_and(|event| is_about(&event, &names)) {
                    bell.ring();
                }
            };
            let mut watcher = notify::recommended_watcher(heard).ok()?;
            watcher.watch(folder, RecursiveMode::NonRecursive).ok()?;
            Some(watcher)
        });
    }
}

/// Whether it tells that one of the files was written, or that some event was lost.
fn is_about(event: &Event, names: &[OsString]) -> bool {
    let named = |path: &std::path::PathBuf| {
        path.file_name().is_some_and(|name| names.iter().any(|one| one == name))
    };
    event.need_rescan()
        || event.paths.is_empty()
        || (!matches!(event.kind, EventKind::Access(_)) && event.paths.iter().any(named))
        || matches!(event.kind, EventKind::Remove(_))
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("begun", &self.watcher.get().is_some()).finish()
    }
}
