//! Reads small text files that a user names. A read has a size limit and never blocks on a pipe.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The maximum size, in bytes, of a text file that `read` accepts.
const MOST: u64 = 1 << 20;

/// The reason why a text file was not read.
#[derive(Debug, thiserror::Error)]
pub enum Unread {
    /// The file cannot be opened or read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The path does not name a regular file: it is a directory, or a device or pipe, which may
    /// have no end.
    #[error("it is no regular file")]
    NoFile,
    /// The file is longer than 1 MiB.
    #[error("it holds more than {} bytes", MOST)]
    Long,
    /// The file is not UTF-8. Contains the number, from 1, of the first line that is not UTF-8.
    #[error("line {0} is not UTF-8")]
    NoText(usize),
}

/// Returns the content of a text file.
///
/// # Errors
/// Returns an error if the file cannot be read, is not a regular file, is longer than 1 MiB, or is
/// not UTF-8.
pub fn read(path: &Path) -> Result<String, Unread> {
    // Check before opening, because opening a pipe blocks until there is a writer.
    if !path.metadata()?.is_file() {
        return Err(Unread::NoFile);
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(Unread::Long);
    }
    String::from_utf8(bytes).map_err(|error| {
        let sound = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
        Unread::NoText(sound.filter(|byte| **byte == b'\n').count() + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_an_end_and_files_that_are_no_text_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("words.txt");
        let error = |path: &Path| read(path).unwrap_err().to_string();
        std::fs::write(&path, "a\nb\n").unwrap();
        assert_eq!(read(&path).unwrap(), "a\nb\n");
        std::fs::write(&path, b"a\nb\xff\n").unwrap();
        assert_eq!(error(&path), "line 2 is not UTF-8");
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(error(&path), "it holds more than 1048576 bytes");
        for endless in [Path::new("/dev/zero"), dir.path()] {
            assert_eq!(error(endless), "it is no regular file");
        }
        assert!(matches!(read(&dir.path().join("none")), Err(Unread::Io(_))));
    }
}
