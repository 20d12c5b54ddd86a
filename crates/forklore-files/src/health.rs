//! Checks the health of a store without creating, writing or repairing anything.

use std::path::Path;
use std::sync::Arc;

use forklore_store::disk::{folder_of, os};
use forklore_store::health::{Far, Health};
use forklore_store::{Error, Result};

use crate::folder::Folder;
use crate::fs::{Disk, Open};
use crate::layout::{LINES, Layout, PREFIX, Segment};
use crate::{FilesStore, Options};

impl FilesStore {
    /// Reports on the health of the store in the folder at `path`, which need not exist.
    #[must_use]
    pub fn health(path: &Path) -> Health {
        let mut health = Health::default();
        if !path.exists() {
            health.ok("store", format!("none yet; the first command makes {}", path.display()));
            if let Some(there) = folder_of(path).ancestors().find(|folder| folder.is_dir()) {
                health.look_at_folder(there, Far::Warned);
            }
            return health;
        }
        health.ok("store", path.display().to_string());
        health.look_at_folder(path, Far::Warned);
        health.look_at_rights(path);
        if health.worst().is_none()
            && let Err(error) = look_inside(&mut health, path)
        {
            health.problem("content", &error);
        }
        health
    }
}

/// Maximum number of sessions whose headers a health check reads.
const HEADERS: u64 = 10_000;

/// Reports on the content of the store's folder: its version, an interrupted change, and the number
/// of sessions. Reads the sessions' headers, not their events.
fn look_inside(health: &mut Health, path: &Path) -> Result<()> {
    FilesStore::open(path, Options { read_only: true, ..Options::default() })?;
    health.ok("format", format!("version {}", crate::record::VERSION));
    let folder = Folder::new(Arc::new(Disk), Layout::of(path));
    if folder.is_pending()? {
        let message = "a step over several files is under way, or was cut short";
        health.warning("pending", message, "any command that writes finishes it");
    }
    let found = Found::in_folder(&folder)?;
    match &found.damaged {
        Some(damaged) => health.problem("sessions", damaged),
        None => health.ok("sessions", found.sessions.to_string()),
    }
    if found.torn == 0 {
        health.ok("tails", "every file ends with a whole line");
    } else {
        let message = format!("{} of the files end with a line that is not whole", found.torn);
        let hint = "the next append to it cuts that line off and keeps its bytes in aside/";
        health.warning("tails", message, hint);
    }
    match folder.names(&folder.layout.aside())?.len() {
        0 => {}
        number => {
            let message = format!("{number} torn tails were cut off and are kept in aside/");
            health.warning(
                "aside",
                message,
                "they hold what was never acknowledged: look, then remove them",
            );
        }
    }
    health.ok("content", "verify reads everything");
    Ok(())
}

/// What the folder `workspaces` contains: the number of sessions, the number of event files with an
/// incomplete last line, and the error of the first session that cannot be read.
#[derive(Default)]
struct Found {
    sessions: u64,
    torn: u64,
    damaged: Option<Error>,
}

impl Found {
    fn in_folder(folder: &Folder) -> Result<Self> {
        let mut found = Self::default();
        let workspaces = folder.layout.workspaces();
        for key in folder.names(&workspaces)? {
            let workspace = workspaces.join(&key);
            for name in folder.names(&workspace)? {
                let Some(segment) = name.strip_suffix(LINES) else { continue };
                found.torn += u64::from(is_torn(folder, &workspace.join(&name))?);
                if !segment.ends_with(PREFIX) {
                    found.sessions += 1;
                    found.look_at_header(folder, &Segment::at(&key, segment));
                }
            }
        }
        Ok(found)
    }

    fn look_at_header(&mut self, folder: &Folder, segment: &Segment) {
        if self.damaged.is_none() && self.sessions <= HEADERS {
            self.damaged = folder.session_in(segment).err();
        }
    }
}

/// Checks whether the last line of a file is incomplete: it lacks its line feed.
fn is_torn(folder: &Folder, path: &Path) -> Result<bool> {
    let Some(file) = folder.open(path, Open::Read)? else { return Ok(false) };
    let len = file.len().map_err(os("reading", path))?;
    let mut last = [b'\n'];
    if len > 0 {
        file.read_at(&mut last, len - 1).map_err(os("reading", path))?;
    }
    Ok(last != [b'\n'])
}
