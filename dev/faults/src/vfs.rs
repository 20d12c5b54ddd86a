//! A SQLite VFS that passes each operation through a [`Drive`] and then to SQLite's default VFS.
#![allow(
    unsafe_code,
    reason = "a VFS is an interface of C: tables of functions over pointers that SQLite allocates"
)]

mod file;

use std::ffi::{CStr, CString, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::ffi;

use crate::drive::{Drive, Failure, Operation, Verdict};

/// A VFS (SQLite's interface to files) that is registered with SQLite under a name. It passes file
/// operations through a simulated drive, which can be replaced at any time.
///
/// The VFS stays registered until the process ends, because SQLite stores a pointer to it.
#[derive(Debug)]
pub struct Vfs {
    name: &'static str,
    drive: Mutex<Arc<Drive>>,
}

/// The structure that SQLite points to for a registered VFS. It begins with a copy of SQLite's
/// default VFS, including its `pAppData`, so that the functions of the default VFS accept the
/// structure.
#[repr(C)]
struct Registered {
    base: ffi::sqlite3_vfs,
    real: *mut ffi::sqlite3_vfs,
    vfs: &'static Vfs,
}

impl Vfs {
    /// Registers a new VFS (SQLite's interface to files) under this unique name.
    ///
    /// # Panics
    /// If SQLite refuses the VFS.
    #[must_use]
    pub fn register(name: &'static str) -> &'static Self {
        let vfs: &'static Self =
            Box::leak(Box::new(Self { name, drive: Mutex::new(Drive::sound()) }));
        let c_name = CString::new(name).expect("a name without a zero byte").into_raw();
        // SAFETY: null requests the default VFS, which SQLite has from its start and never frees.
        let real = unsafe { ffi::sqlite3_vfs_find(std::ptr::null()) };
        assert!(!real.is_null(), "SQLite has no VFS");
        // SAFETY: `real` points to a VFS that is never freed; its fields are plain data.
        let mut base = unsafe { *real };
        base.szOsFile += file::HEADER;
        base.pNext = std::ptr::null_mut();
        base.zName = c_name;
        base.xOpen = Some(open);
        base.xDelete = Some(delete);
        let registered = Box::leak(Box::new(Registered { base, real, vfs }));
        // SAFETY: the VFS and its name are leaked, so they are valid as long as SQLite uses them.
        let code = unsafe { ffi::sqlite3_vfs_register(&raw mut registered.base, 0) };
        assert_eq!(code, ffi::SQLITE_OK, "SQLite refuses the VFS {name}");
        vfs
    }

    /// Returns the name under which this VFS is registered with SQLite.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Sets the simulated drive for files that are opened from now on. Open files remain on the
    /// previous drive.
    pub fn mount(&self, drive: &Arc<Drive>) {
        *self.drive.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(drive);
    }

    fn drive(&self) -> Arc<Drive> {
        Arc::clone(&self.drive.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns the SQLite error code for a failure of the simulated drive. `broken` is the code for a
/// failed device. The caller passes it, because it depends on the operation that failed.
fn code(failure: Failure, broken: c_int) -> c_int {
    match failure {
        Failure::Broken => broken,
        Failure::Full => ffi::SQLITE_FULL,
    }
}

/// Converts the file name that SQLite passes into a path. Returns `None` if there is no name: then
/// the file is a temporary one, which SQLite deletes on close.
///
/// # Safety
/// `name` is null or a C string that ends with a zero byte.
unsafe fn path(name: *const c_char) -> Option<PathBuf> {
    if name.is_null() {
        return None;
    }
    // SAFETY: the caller guarantees that `name` is a C string.
    let name = unsafe { CStr::from_ptr(name) };
    Some(Path::new(OsStr::from_bytes(name.to_bytes())).to_owned())
}

unsafe extern "C" fn open(
    vfs: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    handle: *mut ffi::sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    // SAFETY: SQLite passes the VFS that was registered.
    let registered = unsafe { &*vfs.cast::<Registered>() };
    // SAFETY: SQLite passes file names as C strings.
    let path = unsafe { path(name) };
    let drive = registered.vfs.drive();
    let of_all = Arc::clone(&drive);
    let _turn = of_all.turn();
    let made = path.as_deref().is_some_and(|path| !path.exists());
    // SAFETY: SQLite allocated `szOsFile` bytes: our header followed by a file of the real VFS.
    unsafe { file::blank(handle) };
    if let Some(path) = &path {
        let operation = if made { Operation::Create(path) } else { Operation::Open(path) };
        if let Verdict::Fail(failure) = drive.ask(&operation) {
            return code(failure, ffi::SQLITE_CANTOPEN);
        }
    }
    // SAFETY: `real` is the default VFS and has an `xOpen`; the file after our header belongs to
    // it.
    let opened = unsafe {
        let real = &*registered.real;
        let open = real.xOpen.expect("every VFS opens files");
        open(registered.real, name, file::real(handle), flags, out)
    };
    if opened == ffi::SQLITE_OK {
        let node = path.as_deref().map(|path| drive.opened(path, made)).unwrap_or_default();
        let fresh = flags & (ffi::SQLITE_OPEN_WAL | ffi::SQLITE_OPEN_MAIN_JOURNAL) != 0
            && flags & ffi::SQLITE_OPEN_CREATE != 0;
        // When the real VFS first syncs a new journal, it also syncs the journal's directory.
        let folder = path.filter(|_| fresh).and_then(|path| Some(path.parent()?.to_owned()));
        // SAFETY: SQLite allocated the header and the real file, and the real VFS opened the
        // latter.
        unsafe { file::begin(handle, drive, node, folder) };
    }
    opened
}

unsafe extern "C" fn delete(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    sync_dir: c_int,
) -> c_int {
    // SAFETY: SQLite passes the VFS that was registered.
    let registered = unsafe { &*vfs.cast::<Registered>() };
    // SAFETY: SQLite passes file names as C strings.
    let Some(path) = (unsafe { path(name) }) else {
        return ffi::SQLITE_IOERR_DELETE;
    };
    let drive = registered.vfs.drive();
    let _turn = drive.turn();
    let remove = Operation::Remove { path: &path };
    if let Verdict::Fail(failure) = drive.ask(&remove) {
        return code(failure, ffi::SQLITE_IOERR_DELETE);
    }
    let folder = path.parent().filter(|_| sync_dir != 0);
    let sync = folder.map(Operation::SyncDir);
    let verdict = sync.as_ref().map_or(Verdict::Go, |sync| drive.ask(sync));
    let sync_now = if verdict == Verdict::Go { sync_dir } else { 0 };
    // SAFETY: `real` is the default VFS, and deletes files.
    let deleted = unsafe {
        let delete = (*registered.real).xDelete.expect("every VFS deletes files");
        delete(registered.real, name, sync_now)
    };
    if deleted != ffi::SQLITE_OK {
        return deleted;
    }
    drive.done(&remove);
    match (verdict, &sync) {
        (Verdict::Go, Some(sync)) => drive.done(sync),
        (Verdict::Go, None) => {}
        _ => return ffi::SQLITE_IOERR_DIR_FSYNC,
    }
    ffi::SQLITE_OK
}
