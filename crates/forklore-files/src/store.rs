//! The store handle: the folder, the gate (the store's lock file), and the methods with which
//! operations take locks.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use forklore_store::attachments::AttachmentFolder;
use forklore_store::clock::StoreClock;
use forklore_store::disk::{self, CacheFolder, Gate, Pass, Passed, limits, os};
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

/// Number of free file descriptors that a change to several files needs, with some reserve.
const FILES_OF_A_STEP: usize = 8;

/// The options with which to open a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How long an operation waits for a lock of another process. After that, it fails with
    /// `Locked`.
    pub wait: Duration,
    /// Whether to open an existing store for reading only.
    pub read_only: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { wait: Duration::from_secs(5), read_only: false }
    }
}

/// A session store in a folder, with one file of JSON lines per session. Several processes may use
/// it at once.
#[derive(Debug)]
pub struct FilesStore {
    folder: Folder,
    options: Options,
    gate: Gate,
    index: Mutex<Index>,
    attachments: Arc<AttachmentFolder>,
}

/// The name of this kind of store. The file that marks a folder as a store contains it.
const KIND: &str = "files";

/// The content of the file that marks a folder as a store.
#[derive(Serialize, Deserialize)]
struct Marker {
    forklore: String,
    version: u32,
}

impl FilesStore {
    /// Opens the store in the folder at `path`. If the folder does not exist, creates it with
    /// access only for its owner, unless `read_only` is set.
    ///
    /// # Errors
    /// - `Denied` if the folder belongs to another user or is writable by everybody.
    /// - `Unsupported` if the folder contains something other than a store, or if a newer version
    ///   of forklore wrote it.
    /// - `Corrupt` if the file that marks the folder as a store is damaged.
    /// - `Locked` if another process has the store locked for longer than [`Options::wait`].
    /// - `Io` if reading or writing a file fails.
    pub fn open(path: &Path, options: Options) -> Result<Self> {
        Self::open_on(Arc::new(Disk), path, options)
    }

    /// Opens a store like [`FilesStore::open`], but accesses its files through `fs`. For tests.
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
            let _passed = gate.pass(Pass::Exclusive, options.wait)?;
            // Another process may have created the store before this one got the gate.
            if !check(&folder, path)? {
                make(&folder)?;
            }
        }
        if !options.read_only && folder.names(&folder.layout.workspaces())?.is_empty() {
            // The process that created the store may have been killed before the marker's name was
            // durable.
            folder.sync_name(&folder.layout.version())?;
        }
        let store = Self { folder, options, gate, index: Mutex::default(), attachments };
        if !options.read_only {
            store.renew_feed();
        }
        Ok(store)
    }

    /// Checks whether [`FilesStore::open`] would find something at `path` and therefore create no
    /// store there. It may be a store, or something that [`FilesStore::open`] refuses. Writes
    /// nothing.
    #[must_use]
    pub fn exists(path: &Path) -> bool {
        let folder = Folder::new(Arc::new(Disk), Layout::of(path));
        !matches!(check(&folder, path), Ok(false))
    }

    /// Returns the store's attachments. They are files in the folder `attachments` of the store's
    /// folder.
    #[must_use]
    pub fn attachments(&self) -> Arc<AttachmentFolder> {
        self.attachments.clone()
    }

    /// Returns the folder for data that is computed from the store: the folder `cache` of the
    /// store's folder. `None` if the store is open for reading only.
    pub(crate) fn cache(&self) -> Option<CacheFolder> {
        (!self.options.read_only).then(|| CacheFolder::at(self.folder.layout.cache()))
    }

    /// Removes the data that was computed from the store. Returns its size in bytes.
    pub(crate) fn remove_cache(&self) -> Result<u64> {
        self.cache().map_or(Ok(0), |cache| cache.remove(self.options.wait))
    }

    /// Replaces the store's clock. For tests.
    #[must_use]
    pub fn with_clock(mut self, clock: StoreClock) -> Self {
        self.folder.clock = clock;
        self
    }

    /// Returns the path of the store's folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.layout.root()
    }

    /// Returns the store's folder. Takes no lock, and does not finish an interrupted change.
    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Returns the store's folder for reading. If a change to several files was interrupted,
    /// finishes it first.
    pub(crate) fn reading(&self) -> Result<&Folder> {
        // Do this even after a failed sync: otherwise readers would see only a part of the change.
        // Finishing a change writes and syncs all its bytes again.
        if self.folder.is_pending()? {
            // Ignore other errors, such as a missing write permission or a full disk: the data in
            // the files is still readable.
            if let Err(error @ Error::Locked(_)) = self.exclusive_anyway() {
                return Err(error);
            }
        }
        Ok(&self.folder)
    }

    /// Takes the store's exclusive lock. A change needs this lock if the change concerns several
    /// files, or a file to which other files refer.
    pub(crate) fn exclusive(&self) -> Result<(Passed, &Folder)> {
        self.folder.check_sound()?;
        Ok((self.exclusive_anyway()?, &self.folder))
    }

    fn exclusive_anyway(&self) -> Result<Passed> {
        self.check_writable()?;
        let passed = self.gate.pass(Pass::Exclusive, self.options.wait)?;
        // A change that runs out of file descriptors before its last sync can be neither completed
        // nor undone. So check beforehand that enough are free.
        limits::open_files(FILES_OF_A_STEP).map_or(Ok(()), |why| {
            Err(Error::io(format!("beginning a step on {}", self.path().display()), why))
        })?;
        self.folder.finish_pending()?;
        Ok(passed)
    }

    /// Takes the store's shared lock and the session's own exclusive lock. Other processes can then
    /// change other sessions at the same time.
    pub(crate) fn with(&self, id: &forklore_core::SessionId) -> Result<(Gates, &Folder)> {
        self.folder.check_sound()?;
        self.check_writable()?;
        let until = Instant::now() + self.options.wait;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let shared = self.gate.pass(Pass::Shared, left)?;
            if self.folder.is_pending()? {
                drop(shared);
                drop(self.exclusive_anyway()?);
                continue;
            }
            let found = self.folder.find(id)?.ok_or_else(|| Error::NotFound(id.clone()))?;
            let layout = &self.folder.layout;
            let claim = layout.claim(found.segment.name());
            if self.folder.open(&claim, Open::Read)?.is_none() {
                drop(shared);
                let _passed = self.exclusive_anyway()?;
                self.folder.claim(self.folder.any(id)?.line.session.id(), &found.segment)?;
                continue;
            }
            let gate = Gate::of(layout.segment(&found.segment), claim);
            let left = until.saturating_duration_since(Instant::now());
            let own = gate.pass(Pass::Exclusive, left)?;
            return Ok((Gates { _own: own, _shared: shared }, &self.folder));
        }
    }

    /// Returns the index of imported files, after reading the new lines of the import log.
    pub(crate) fn index(&self) -> Result<MutexGuard<'_, Index>> {
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        index.refresh(&self.folder)?;
        Ok(index)
    }

    /// Checks whether the store was opened for reading only.
    pub(crate) fn is_read_only(&self) -> bool {
        self.options.read_only
    }

    /// Takes the store's exclusive lock. Unlike [`FilesStore::exclusive`], does not finish an
    /// interrupted change.
    pub(crate) fn pass_exclusive(&self) -> Result<Passed> {
        self.gate.pass(Pass::Exclusive, self.options.wait)
    }

    fn check_writable(&self) -> Result<()> {
        if self.options.read_only {
            let path = self.path().display();
            return Err(Error::Denied(format!("{path} was opened for reading only")));
        }
        Ok(())
    }
}

/// The two locks for a write to one session: its own exclusive lock, and the store's shared lock.
/// Dropping this releases both.
#[derive(Debug)]
pub(crate) struct Gates {
    _own: Passed,
    _shared: Passed,
}

/// Checks what is at `path`. Returns true if it is a store. Returns false if nothing is there or
/// the creation of a store did not finish.
///
/// # Errors
/// `Unsupported` if something else is there.
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
    if marker.forklore != KIND {
        return Err(Error::Unsupported(format!("{} is not a files store", path.display())));
    }
    disk::check_version(&version, marker.version, VERSION)?;
    Ok(true)
}

/// Checks whether a folder is a store whose creation did not finish. That is so if it contains only
/// what a process creates before the file that marks the folder as a store.
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

/// Creates the folder of the store and its missing parent folders, and makes their names durable.
fn make_folder(folder: &Folder, path: &Path) -> Result<()> {
    let missing: Vec<_> = path.ancestors().take_while(|above| !above.exists()).collect();
    disk::make_folder(path)?;
    missing.into_iter().rev().try_for_each(|made| folder.sync_name(made))
}

/// Creates the folders of a store, and then the file that marks it as a store.
fn make(folder: &Folder) -> Result<()> {
    let layout = &folder.layout;
    for path in [layout.workspaces(), layout.ids(), layout.labels()] {
        folder.make_dir(&path)?;
    }
    let marker = Marker { forklore: KIND.into(), version: VERSION };
    folder.put(&layout.version(), sealed(&marker)?.as_bytes())
}
