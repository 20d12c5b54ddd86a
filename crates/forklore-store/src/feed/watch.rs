//! Wakes the readers of a feed that are in other processes than the writer.

use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::Bell;

/// A file watcher that rings a [`Bell`] whenever any process writes to certain files of a folder.
pub struct Watch {
    bell: Arc<Bell>,
    watcher: OnceLock<Option<RecommendedWatcher>>,
}

impl Watch {
    /// Creates a watcher that rings `bell`. It watches nothing before [`Watch::begin`] is called.
    #[must_use]
    pub fn ringing(bell: Arc<Bell>) -> Self {
        Self { bell, watcher: OnceLock::new() }
    }

    /// Starts to watch the files with these names in `folder`. Later calls do nothing. If the
    /// system cannot watch the folder, no bell rings, and readers only poll from time to time.
    pub fn begin(&self, folder: &Path, names: &[OsString]) {
        self.watcher.get_or_init(|| {
            let (bell, names) = (Arc::clone(&self.bell), names.to_vec());
            let notify = move |event: notify::Result<Event>| {
                if event.is_ok_and(|event| is_about(&event, &names)) {
                    bell.ring();
                }
            };
            let mut watcher = notify::recommended_watcher(notify).ok()?;
            watcher.watch(folder, RecursiveMode::NonRecursive).ok()?;
            Some(watcher)
        });
    }
}

/// Checks whether a file system event may mean a write to one of the files with these names. The
/// removal of any file counts as such a write. So does a report that the system lost events.
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
