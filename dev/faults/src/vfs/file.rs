//! A file of the VFS. In memory it is our header, followed by the file of the real VFS.

use std::ffi::{c_int, c_void};
use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::ffi::{self, sqlite3_file, sqlite3_int64, sqlite3_io_methods};

use super::code;
use crate::drive::{Drive, Failure, Node, Operation, Verdict, reaching};

/// The data that this VFS adds to each open file. In memory, it directly precedes the file
/// structure of the real VFS (SQLite's default). Its size is a multiple of the alignment of a
/// pointer.
#[repr(C)]
struct Header {
    base: sqlite3_file,
    open: *mut Open,
}

/// What this VFS stores about an open file.
struct Open {
    drive: Arc<Drive>,
    node: Node,
    /// The directory to record as synced at the first sync of the file. It is set for a new journal
    /// or WAL, because the real VFS (SQLite's default) then also syncs the directory.
    folder: Option<PathBuf>,
}

/// The size of a `Header` in bytes. A file of this VFS needs these bytes in addition to those of
/// the real file (the file structure of SQLite's default VFS).
pub(super) const HEADER: c_int = size_of::<Header>() as c_int;

/// Marks a file of this VFS as not open. SQLite requires that mark if its method `xOpen` fails.
///
/// # Safety
/// `file` points to memory for a file of this VFS.
pub(super) unsafe fn blank(file: *mut sqlite3_file) {
    // SAFETY: the memory begins with a header.
    unsafe {
        let header = file.cast::<Header>();
        (*header).base.pMethods = std::ptr::null();
        (*header).open = std::ptr::null_mut();
        (*real(file)).pMethods = std::ptr::null();
    }
}

/// Returns the file of the real VFS (SQLite's default). In memory, it follows the header of this
/// VFS's file.
///
/// # Safety
/// `file` points to memory for a file of this VFS.
pub(super) unsafe fn real(file: *mut sqlite3_file) -> *mut sqlite3_file {
    // SAFETY: SQLite allocates `szOsFile` bytes, a header and a real file.
    unsafe { file.cast::<Header>().add(1).cast() }
}

/// Makes a file of this VFS ready for use. Call it after the real VFS (SQLite's default) opened the
/// real file.
///
/// # Safety
/// `blank` was called with `file`, and the real VFS opened the real file.
pub(super) unsafe fn begin(
    file: *mut sqlite3_file,
    drive: Arc<Drive>,
    node: Node,
    folder: Option<PathBuf>,
) {
    let open = Box::into_raw(Box::new(Open { drive, node, folder }));
    // SAFETY: the memory begins with a header.
    unsafe {
        let header = file.cast::<Header>();
        (*header).open = open;
        (*header).base.pMethods = &METHODS;
    }
}

/// Returns what this VFS stores about an open file.
///
/// # Safety
/// `begin` was called with `file`, and the file is not closed. SQLite uses a file from one thread
/// at a time.
unsafe fn open_file<'a>(file: *mut sqlite3_file) -> &'a mut Open {
    // SAFETY: `begin` stored a pointer to a box, which only `close` frees.
    unsafe { &mut *(*file.cast::<Header>()).open }
}

/// Calls a method of the real VFS (SQLite's default). The method gets the real file that belongs to
/// a file of this VFS.
macro_rules! pass {
    ($file:expr, $method:ident $(, $argument:expr)*) => {{
        // SAFETY: SQLite calls methods of open files only. The real file is open as long as ours,
        // and its VFS (the Unix one) has all methods of version 2.
        unsafe {
            let real = real($file);
            let method = (*(*real).pMethods).$method.expect("a method of version 2");
            method(real $(, $argument)*)
        }
    }};
}

static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    // Version 3 only adds methods for memory-mapped files.
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    let code = pass!(file, xClose);
    // SAFETY: `begin` created the box; SQLite closes a file once.
    drop(unsafe { Box::from_raw((*file.cast::<Header>()).open) });
    code
}

unsafe extern "C" fn read(
    file: *mut sqlite3_file,
    into: *mut c_void,
    len: c_int,
    at: sqlite3_int64,
) -> c_int {
    // SAFETY: the file is open.
    let open = unsafe { open_file(file) };
    match open.drive.ask(&Operation::Read(open.node)) {
        Verdict::Go => pass!(file, xRead, into, len, at),
        Verdict::Fail(_) | Verdict::Short(..) => ffi::SQLITE_IOERR_READ,
    }
}

unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    from: *const c_void,
    len: c_int,
    at: sqlite3_int64,
) -> c_int {
    // SAFETY: the file is open.
    let open = unsafe { open_file(file) };
    // SAFETY: SQLite passes `len` bytes to write.
    let bytes =
        unsafe { std::slice::from_raw_parts(from.cast::<u8>(), len.unsigned_abs() as usize) };
    let location = at.unsigned_abs();
    let drive = Arc::clone(&open.drive);
    let _turn = drive.turn();
    match open.drive.ask(&Operation::Write(open.node, bytes, location)) {
        Verdict::Go => {
            let code = pass!(file, xWrite, from, len, at);
            if code == ffi::SQLITE_OK {
                open.drive.done(&Operation::Write(open.node, bytes, location));
            }
            code
        }
        Verdict::Fail(failure) => code(failure, ffi::SQLITE_IOERR_WRITE),
        Verdict::Short(part, failure) => {
            let mut len = 0;
            if pass!(file, xFileSize, &raw mut len) != ffi::SQLITE_OK {
                return ffi::SQLITE_IOERR_WRITE;
            }
            let part = reaching(part, location, len.unsigned_abs());
            if part > 0 {
                pass!(file, xWrite, from, part as c_int, at);
            }
            code(failure, ffi::SQLITE_IOERR_WRITE)
        }
    }
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, len: sqlite3_int64) -> c_int {
    // SAFETY: the file is open.
    let open = unsafe { open_file(file) };
    let operation = Operation::SetLen(open.node, len.unsigned_abs());
    let drive = Arc::clone(&open.drive);
    let _turn = drive.turn();
    match open.drive.ask(&operation) {
        Verdict::Go => {
            let code = pass!(file, xTruncate, len);
            if code == ffi::SQLITE_OK {
                open.drive.done(&operation);
            }
            code
        }
        Verdict::Fail(_) | Verdict::Short(..) => ffi::SQLITE_IOERR_TRUNCATE,
    }
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, flags: c_int) -> c_int {
    // SAFETY: the file is open.
    let open = unsafe { open_file(file) };
    let drive = Arc::clone(&open.drive);
    let turn = drive.turn();
    let code = sync_now(file, open, flags);
    drop(turn);
    drive.linger();
    code
}

fn sync_now(file: *mut sqlite3_file, open: &mut Open, flags: c_int) -> c_int {
    let operation = Operation::Sync(open.node);
    if let Verdict::Fail(failure) = open.drive.ask(&operation) {
        return code(failure, ffi::SQLITE_IOERR_FSYNC);
    }
    if let Some(folder) = &open.folder
        && let Verdict::Fail(Failure::Broken | Failure::Full) =
            open.drive.ask(&Operation::SyncDir(folder))
    {
        return ffi::SQLITE_IOERR_DIR_FSYNC;
    }
    let code = pass!(file, xSync, flags);
    if code == ffi::SQLITE_OK {
        open.drive.done(&operation);
        if let Some(folder) = open.folder.take() {
            open.drive.done(&Operation::SyncDir(&folder));
        }
    }
    code
}

unsafe extern "C" fn file_size(file: *mut sqlite3_file, size: *mut sqlite3_int64) -> c_int {
    pass!(file, xFileSize, size)
}

unsafe extern "C" fn lock(file: *mut sqlite3_file, level: c_int) -> c_int {
    pass!(file, xLock, level)
}

unsafe extern "C" fn unlock(file: *mut sqlite3_file, level: c_int) -> c_int {
    pass!(file, xUnlock, level)
}

unsafe extern "C" fn check_reserved_lock(file: *mut sqlite3_file, pin: *mut c_int) -> c_int {
    pass!(file, xCheckReservedLock, pin)
}

unsafe extern "C" fn file_control(
    file: *mut sqlite3_file,
    operation: c_int,
    argument: *mut c_void,
) -> c_int {
    pass!(file, xFileControl, operation, argument)
}

unsafe extern "C" fn sector_size(file: *mut sqlite3_file) -> c_int {
    pass!(file, xSectorSize)
}

unsafe extern "C" fn device_characteristics(file: *mut sqlite3_file) -> c_int {
    pass!(file, xDeviceCharacteristics)
}

unsafe extern "C" fn shm_map(
    file: *mut sqlite3_file,
    page: c_int,
    size: c_int,
    extend: c_int,
    into: *mut *mut c_void,
) -> c_int {
    pass!(file, xShmMap, page, size, extend, into)
}

unsafe extern "C" fn shm_lock(
    file: *mut sqlite3_file,
    offset: c_int,
    count: c_int,
    flags: c_int,
) -> c_int {
    pass!(file, xShmLock, offset, count, flags)
}

unsafe extern "C" fn shm_barrier(file: *mut sqlite3_file) {
    pass!(file, xShmBarrier);
}

unsafe extern "C" fn shm_unmap(file: *mut sqlite3_file, delete: c_int) -> c_int {
    pass!(file, xShmUnmap, delete)
}
