//! The store itself: the gate before the folder, and how a step uses it.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use forklore_store::attachments::AttachmentFolder;
use forklore_store::clock::StoreClock;
use forklore_store::disk::{self, Gate, Passed, Turn, limits, os};
use forklore_store::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::folder::Folder;
use crate::fs::{Disk, Fs, Open};
use crate::layout::Layout;
use crate::line;
use crate::line::sealed;
use crate::log::damage;
use crate::record::VERSION;
use crate::sources::Index;

/// Files that a step over several sessions has open at once, and some to spare.
const FILES_OF_A_STEP: usize = 8;

/// How to open a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How long a step waits for other processes.
    pub wait: Duration,
    /// Whether to open an existing store for reading only.
    pub read_only: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { wait: Duration::from_secs(5), read_only: false }
    }
}

/// Keeps sessions in a folder, one file of JSON lines each, that several processes may use at once.
#[derive(Debug)]
pub struct FilesStore {
    folder: Folder,
    options: Options,
    gate: Gate,
    index: Mutex<Index>,
    attachments: Arc<AttachmentFolder>,
}

/// What says that a folder is a store.
#[derive(Serialize, Deserialize)]
struct Marker {
    forklore: String,
    version: u32,
}

impl FilesStore {
    /// Opens the store in the folder at `path`; unless it is to be read only, it is made when it
    /// is not there, for its owner's eyes only.
    ///
    /// # Errors
    /// `Denied` when the folder is another user's or may be written by everybody; `Unsupported`
    /// when it holds something else or a newer program made it; `Corrupt`, `Io`, `Locked`.
    pub fn open(path: &Path, options: Options) -> Result<Self> {
        Self::open_on(Arc::new(Disk), path, options)
    }

    /// Opens the store on another file system than the machine's: for tests.
    ///
    /// # Errors
    /// See [`FilesStore::open`].
    pub fn open_on(fs: Arc<dyn Fs>, path: &Path, options: Options) -> Result<Self> {
        let layout = Layout::of(path);
        let gate = Gate::new(&layout.gate());
        let attachments =
            AttachmentFolder::on(fs.clone(), layout.attachments(), options.read_only).into();
        let folder = Folder::new(fs, layout);
        if !check(&folder, path)? {
            if options.read_only {
                let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
                return Err(os("opening the store", path)(missing));
            }
            make_folder(&folder, path)?;
            disk::check_folder(path)?;
            let _turn = gate.pass(Turn::Alone, options.wait)?;
            // Somebody may have been faster.
            if !check(&folder, path)? {
                make(&folder)?;
            }
        }
        if !options.read_only && folder.names(&folder.layout.workspaces())?.is_empty() {
            // Whoever made it may have been killed before that was durable.
            folder.sync_name(&folder.layout.version())?;
        }
        let store = Self { folder, options, gate, index: Mutex::default(), attachments };
        if !options.read_only {
            store.renew_feed();
        }
        Ok(store)
    }

    /// Its attachments: files in the folder `attachments` of the store.
    #[must_use]
    pub fn attachments(&self) -> Arc<AttachmentFolder> {
        self.attachments.clone()
    }

    /// The same store at another time: for tests.
    #[must_use]
    pub fn with_clock(mut self, clock: StoreClock) -> Self {
        self.folder.clock = clock;
        self
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.layout.root()
    }

    /// The folder as it is.
    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// The folder, to read from. A step over several files that was cut short is finished first.
    pub(crate) fn reading(&self) -> Result<&Folder> {
        // After a failed sync too: half of the step would be read, and all its bytes are written anew.
        if self.folder.is_pending()? {
            // Whoever may not write, or finds the disk full, can still read what is there.
            if let Err(error @ Error::Locked(_)) = self.alone_anyway() {
                return Err(error);
            }
        }
        Ok(&self.folder)
    }

    /// The folder, to change several files or what others refer to.
    pub(crate) fn alone(&self) -> Result<(Passed, &Folder)> {
        self.folder.check_sound()?;
        Ok((self.alone_anyway()?, &self.folder))
    }

    fn alone_anyway(&self) -> Result<Passed> {
        self.check_writable()?;
        let turn = self.gate.pass(Turn::Alone, self.options.wait)?;
        // A step that finds no descriptor left for its last sync can be neither done nor undone.
        limits::open_files(FILES_OF_A_STEP).map_or(Ok(()), |why| {
            Err(Error::io(format!("beginning a step on {}", self.path().display()), why))
        })?;
        self.folder.finish_pending()?;
        Ok(turn)
    }

    /// The folder, to change one session while others change theirs.
    pub(crate) fn with(&self, id: &forklore_core::SessionId) -> Result<(Turns, &Folder)> {
        self.folder.check_sound()?;
        self.check_writable()?;
        let until = Instant::now() + self.options.wait;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let shared = self.gate.pass(Turn::Together, left)?;
            if self.folder.is_pending()? {
                drop(shared);
                drop(self.alone_anyway()?);
                continue;
            }
            let found = self.folder.find(id)?.ok_or_else(|| Error::NotFound(id.clone()))?;
            let layout = &self.folder.layout;
            let claim = layout.claim(found.segment.name());
            if self.folder.open(&claim, Open::Read)?.is_none() {
                drop(shared);
                let _turn = self.alone_anyway()?;
                self.folder.claim(self.folder.any(id)?.line.session.id(), &found.segment)?;
                continue;
            }
            let gate = Gate::of(layout.segment(&found.segment), claim);
            let left = until.saturating_duration_since(Instant::now());
            let own = gate.pass(Turn::Alone, left)?;
            return Ok((Turns { _own: own, _shared: shared }, &self.folder));
        }
    }

    /// What is known of imports, brought up to date.
    pub(crate) fn index(&self) -> Result<MutexGuard<'_, Index>> {
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        index.refresh(&self.folder)?;
        Ok(index)
    }

    /// Whether it was opened for reading only.
    pub(crate) fn is_read_only(&self) -> bool {
        self.options.read_only
    }

    /// Passes the gate alone, without the folder.
    pub(crate) fn pass_alone(&self) -> Result<Passed> {
        self.gate.pass(Turn::Alone, self.options.wait)
    }

    fn check_writable(&self) -> Result<()> {
        if self.options.read_only {
            let path = self.path().display();
            return Err(Error::Denied(format!("{path} was opened for reading only")));
        }
        Ok(())
    }
}

/// A session's turn, and the store's that it is part of.
#[derive(Debug)]
pub(crate) struct Turns {
    _own: Passed,
    _shared: Passed,
}

/// Checks that the folder is a store, or that there is nothing; whether it is one.
fn check(folder: &Folder, path: &Path) -> Result<bool> {
    let found = match std::fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(os("opening the store", path)(error)),
    };
    if !found.is_dir() {
        return Err(Error::Unsupported(format!("{} is no folder", path.display())));
    }
    disk::refuse_others(path, &found)?;
    let version = folder.layout.version();
    let Some(bytes) = folder.read(&version)? else {
        if is_half_made(folder, path)? {
            return Ok(false);
        }
        return Err(Error::Unsupported(format!("{} is not a store of forklore", path.display())));
    };
    let text = line::checked(&bytes).map_err(|wrong| damage(&version, 0, wrong))?;
    let marker: Marker = serde_json::from_str(text).map_err(|error| damage(&version, 0, &error))?;
    if marker.version != VERSION {
        return Err(Error::Unsupported(format!(
            "{} has the version {} and this program knows up to {VERSION}; use a newer forklore",
            path.display(),
            marker.version
        )));
    }
    Ok(true)
}

/// Whether the folder holds nothing but what is made before a store is one.
fn is_half_made(folder: &Folder, path: &Path) -> Result<bool> {
    let layout = &folder.layout;
    let folders = [layout.workspaces(), layout.ids(), layout.labels()];
    for name in folder.names(path)? {
        let there = path.join(&name);
        let before_the_marker = name.starts_with("store-")
            || name.starts_with("forklore.json")
            || (folders.contains(&there) && folder.names(&there)?.is_empty());
        if !before_the_marker {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Makes the folder of the store, and those above it, with durable names.
fn make_folder(folder: &Folder, path: &Path) -> Result<()> {
    let missing: Vec<_> = path.ancestors().take_while(|above| !above.exists()).collect();
    disk::make_folder(path)?;
    missing.into_iter().rev().try_for_each(|made| folder.sync_name(made))
}

/// Makes a store; what says that it is one comes last.
fn make(folder: &Folder) -> Result<()> {
    let layout = &folder.layout;
    for path in [layout.workspaces(), layout.ids(), layout.labels()] {
        folder.make_dir(&path)?;
    }
    let marker = Marker { forklore: "files".into(), version: VERSION };
    folder.put(&layout.version(), sealed(&marker)?.as_bytes())
}
