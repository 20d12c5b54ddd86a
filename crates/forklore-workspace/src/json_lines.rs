//! A private file of JSON lines to which several processes append.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::marker::PhantomData;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Result;
use crate::error::failed;

/// The open file. No other process appends meanwhile.
#[derive(Debug)]
pub(crate) struct JsonLines<T> {
    path: PathBuf,
    /// Its lock ends when the file is closed.
    file: File,
    /// The bytes of all whole lines.
    length: u64,
    of: PhantomData<T>,
}

impl<T: Serialize + DeserializeOwned> JsonLines<T> {
    /// Opens a file, which need not exist yet, and waits until no other process has it. Returns its
    /// lines too. A last line that a kill cut short is removed.
    pub(crate) fn open(path: &Path) -> Result<(Self, Vec<T>)> {
        let folder = path.parent().unwrap_or(Path::new("."));
        create_private(folder)?;
        let mut options = OpenOptions::new();
        let file = options.create(true).append(true).read(true).mode(0o600).open(path);
        let file = file.map_err(failed("open", path))?;
        file.lock().map_err(failed("lock", path))?;
        let text = fs::read(path).map_err(failed("read", path))?;
        let (lines, whole) = parse(&text).map_err(failed("read", path))?;
        if whole < text.len() {
            file.set_len(whole as u64).map_err(failed("repair", path))?;
        }
        let opened = Self { path: path.to_path_buf(), file, length: whole as u64, of: PhantomData };
        Ok((opened, lines))
    }

    /// Appends a line. It is on the disk then. If that fails, the file is as before.
    pub(crate) fn add(&mut self, line: &T) -> Result<()> {
        let text = serde_json::to_string(line).map_err(io::Error::other);
        let text = format!("{}\n", text.map_err(failed("write", &self.path))?);
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        // The name of a new file must be on the disk too.
        let written = written.and_then(|()| match (self.length, self.path.parent()) {
            (0, Some(folder)) => File::open(folder)?.sync_all(),
            _ => Ok(()),
        });
        if let Err(error) = written {
            self.file.set_len(self.length).ok();
            return Err(failed("write", &self.path)(error));
        }
        self.length += text.len() as u64;
        Ok(())
    }
}

/// Reads the whole lines of a file, without waiting for who appends. A file that does not exist has
/// none.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed("read", path)(error)),
    };
    Ok(parse(&text).map_err(failed("read", path))?.0)
}

/// Returns the files of JSON lines in a folder, which need not exist.
pub(crate) fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed("read", folder)(error)),
    };
    let paths = entries.map(|entry| Ok(entry.map_err(failed("read", folder))?.path()));
    let is_ours = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "jsonl");
    paths.filter(|path| path.as_ref().map_or(true, is_ours)).collect()
}

/// Creates a folder and those above it, if they do not exist, so that only the user can read them.
fn create_private(folder: &Path) -> Result<()> {
    let created = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    created.map_err(failed("create", folder))
}

/// Returns the whole lines, and the number of their bytes.
fn parse<T: DeserializeOwned>(text: &[u8]) -> io::Result<(Vec<T>, usize)> {
    let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let lines = text.get(..whole).unwrap_or_default().split(|&byte| byte == b'\n');
    let lines = lines.filter(|line| !line.is_empty()).map(serde_json::from_slice);
    Ok((lines.collect::<Result<_, _>>().map_err(io::Error::other)?, whole))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::thread;

    use super::*;

    #[test]
    fn a_line_that_a_kill_cut_short_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b.jsonl");
        JsonLines::open(&path).unwrap().0.add(&1).unwrap();
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"23").unwrap();
        assert_eq!(read::<u64>(&path).unwrap(), [1]);
        let (mut lines, found) = JsonLines::open(&path).unwrap();
        assert_eq!(found, [1]);
        lines.add(&4).unwrap();
        drop(lines);
        assert_eq!(fs::read_to_string(&path).unwrap(), "1\n4\n");
    }

    #[test]
    fn a_damaged_line_is_an_error_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b.jsonl");
        fs::write(&path, "1\nx\n3\n").unwrap();
        assert!(read::<u64>(&path).is_err());
        assert!(JsonLines::<u64>::open(&path).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "1\nx\n3\n");
    }

    #[test]
    fn only_the_user_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b.jsonl");
        JsonLines::open(&path).unwrap().0.add(&1).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!([mode(&path), mode(path.parent().unwrap())], [0o600, 0o700]);
    }

    #[test]
    fn many_who_append_lose_no_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b.jsonl");
        thread::scope(|scope| {
            for writer in 0..4 {
                let path = &path;
                scope.spawn(move || {
                    for number in 0..8 {
                        JsonLines::open(path).unwrap().0.add(&(writer * 8 + number)).unwrap();
                    }
                });
            }
        });
        let mut found = read::<u64>(&path).unwrap();
        found.sort_unstable();
        assert_eq!(found, (0..32).collect::<Vec<_>>());
    }

    #[test]
    fn files_of_other_kinds_are_not_listed() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.jsonl", "b.lock"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(files_in(folder.path()).unwrap(), [folder.path().join("a.jsonl")]);
        assert_eq!(files_in(&folder.path().join("none")).unwrap(), Vec::<PathBuf>::new());
    }
}
