//! A file that is being imported. It is opened once, read-only, and its first bytes are examined
//! before it is read.

use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use forklore_core::agent_format::{AgentFormat, FileFacts, Line};
use forklore_core::limits::IMPORTED_LINE_BYTES;
use forklore_engine::sources::path_text;
use forklore_store::sources::{RecordKey, SeenFile};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::compressed::{Trouble, Unpacked, is_packed};
use crate::described::Described;
use crate::record_keys::record_key;
use crate::report::ProblemKind;

/// Maximum number of bytes at a file's beginning from which its agent format is detected.
const HEAD: u64 = 64 << 10;
/// Maximum number of bytes of a file's first line that are read to find facts about its session.
/// Applies if the line is longer than `HEAD` bytes.
const LONG_HEAD: u64 = 4 << 20;
/// Maximum number of bytes of a file's first line that are hashed. An import finds a moved file by
/// this hash.
const FIRST_LINE: usize = 4 << 10;
const BLOCK: usize = 1 << 20;
/// Characters that may precede or follow a JSON value in a line.
const BLANK: [char; 6] = ['\u{feff}', '\0', ' ', '\t', '\r', '\n'];

/// An open regular file, with the metadata and the first bytes that it had when it was opened.
pub(crate) struct Opened {
    file: File,
    /// Whether the file is compressed. `head` then contains decompressed bytes; `seen` describes
    /// the compressed file.
    pub(crate) packed: bool,
    trouble: Trouble,
    pub(crate) path: PathBuf,
    pub(crate) seen: SeenFile,
    pub(crate) head: Vec<u8>,
    /// Whether the file is one JSON document and not JSON lines.
    pub(crate) document: bool,
    /// The time for records without a time. `None` means the file's modification time,
    /// [`SeenFile::modified`].
    changed: Option<Timestamp>,
}

impl Opened {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut opened = Self::literal(path)?;
        opened.packed = is_packed(&opened.head);
        if opened.packed {
            opened.head = opened.unpacked_head()?;
        }
        Ok(opened)
    }

    /// Opens a file. Its bytes are read as they are, even if the file is compressed.
    pub(crate) fn literal(path: &Path) -> io::Result<Self> {
        let irregular = || io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
        // Opening a named pipe would block until the pipe has a writer, so the path is checked
        // first. The opened file is checked again, because another file may have replaced the first
        // one in between.
        if !path.symlink_metadata()?.is_file() {
            return Err(irregular());
        }
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(irregular());
        }
        let mut head = Vec::new();
        file.by_ref().take(HEAD).read_to_end(&mut head)?;
        let seen =
            SeenFile { path: path_text(path), size: metadata.len(), modified: modified(&metadata) };
        let (path, trouble) = (path.to_owned(), Trouble::default());
        let (packed, document, changed) = (false, false, None);
        Ok(Self { file, packed, trouble, path, seen, head, document, changed })
    }

    /// Wraps a temporary file with generated lines. An import reads it as if it were the file at
    /// `path`.
    pub(crate) fn over(
        mut file: File,
        path: &Path,
        seen: SeenFile,
        changed: Timestamp,
    ) -> io::Result<Self> {
        let mut head = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        file.by_ref().take(HEAD).read_to_end(&mut head)?;
        Ok(Self {
            file,
            packed: false,
            trouble: Trouble::default(),
            path: path.to_owned(),
            seen,
            head,
            document: false,
            changed: Some(changed),
        })
    }

    /// Returns what an import must know of the file before it reads the first line.
    pub(crate) fn described(&self) -> Described<'_> {
        let (path, seen) = (self.path.as_path(), &self.seen);
        let (first_line, time) = (self.first_line(), self.time());
        Described { path, seen, first_line, time, caller_path: None }
    }

    fn unpacked_head(&self) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        self.rest(0)?.take(HEAD).read_to_end(&mut head)?;
        match self.trouble() {
            Some((_, why)) if head.is_empty() => Err(io::Error::other(why)),
            _ => Ok(head),
        }
    }

    /// Returns the reason why the last read of a compressed file stopped before its end, and clears
    /// the reason. Returns `None` if the read did not stop early.
    pub(crate) fn trouble(&self) -> Option<(ProblemKind, String)> {
        self.trouble.take()
    }

    /// Checks whether the content may have at least `len` bytes, without reading it. The answer for
    /// a compressed file is always yes.
    pub(crate) fn may_be_long(&self, len: u64) -> bool {
        self.packed || self.seen.size >= len
    }

    /// Returns the time for records without a time, usually the file's modification time.
    pub(crate) fn time(&self) -> Timestamp {
        if let Some(changed) = self.changed {
            return changed;
        }
        let micros = self.seen.modified.div_euclid(1_000);
        Timestamp::from_microsecond(micros).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    pub(crate) fn first_line(&self) -> RecordKey {
        if self.document {
            // The first line of a document may be only a brace, so the first bytes identify the
            // document.
            return record_key(self.head.get(..FIRST_LINE).unwrap_or(&self.head));
        }
        first_line_key(&self.head)
    }

    /// Returns the sha256 state of the first `len` bytes of the file's content, so that hashing can
    /// continue. Returns `None` if the content is shorter, or if the sha256 of these bytes is not
    /// `sha256`.
    pub(crate) fn prefix(&self, len: u64, sha256: &[u8; 32]) -> io::Result<Option<Sha256>> {
        let hash = self.hash_of(len)?;
        Ok(hash.filter(|hash| <[u8; 32]>::from(hash.clone().finalize()) == *sha256))
    }

    /// Returns the sha256 state of the first `len` bytes of the file's content. Returns `None` if
    /// the content is shorter.
    pub(crate) fn hash_of(&self, len: u64) -> io::Result<Option<Sha256>> {
        if !self.may_be_long(len) {
            return Ok(None);
        }
        let mut content = self.rest(0)?;
        let mut hash = Sha256::new();
        let mut block = vec![0; BLOCK];
        let mut left = len;
        while left > 0 {
            let want = usize::try_from(left).map_or(BLOCK, |left| left.min(BLOCK));
            let part = block.get_mut(..want).unwrap_or_default();
            match content.read(part)? {
                0 => return Ok(None),
                got => {
                    hash.update(part.get(..got).unwrap_or_default());
                    left -= got as u64;
                }
            }
        }
        Ok(Some(hash))
    }

    /// Returns the length in bytes of the file's content, after decompression.
    pub(crate) fn len(&self) -> io::Result<u64> {
        if !self.packed {
            return Ok(self.seen.size);
        }
        io::copy(&mut self.rest(0)?, &mut io::sink())
    }

    /// Returns a reader of the file's content from byte `offset` on. For a file that is not
    /// compressed, the reader ends at the size that the file had when it was opened.
    pub(crate) fn rest(&self, offset: u64) -> io::Result<Box<dyn Read + '_>> {
        let mut file = self.file.try_clone()?;
        if !self.packed {
            file.seek(SeekFrom::Start(offset))?;
            return Ok(Box::new(file.take(self.seen.size.saturating_sub(offset))));
        }
        file.seek(SeekFrom::Start(0))?;
        let mut content = Unpacked::new(file, self.seen.size, &self.trouble)?;
        io::copy(&mut content.by_ref().take(offset), &mut io::sink())?;
        Ok(Box::new(content))
    }

    /// Checks whether the line that begins at byte `from` is too long for a record. Reads the line
    /// block by block. The file must not be compressed.
    pub(crate) fn has_long_line(&self, from: u64) -> io::Result<bool> {
        let mut block = vec![0; BLOCK];
        let (mut at, most) = (from, from.saturating_add(IMPORTED_LINE_BYTES as u64));
        while at <= most && at < self.seen.size {
            let read = self.file.read_at(&mut block, at)?;
            let part = block.get(..read).unwrap_or_default();
            if part.is_empty()
                || memchr::memchr(b'\n', part).is_some_and(|end| at + end as u64 <= most)
            {
                return Ok(false);
            }
            at += read as u64;
        }
        Ok(at > most)
    }

    /// Returns the time of the first record that has a time, and all facts in the records up to
    /// this record. Reads only the file's first records. If none of them has a time, returns the
    /// file's modification time. An import sorts files by this time.
    pub(crate) fn begun(&self, dialect: &dyn AgentFormat) -> (Timestamp, FileFacts) {
        let mut reader = dialect.reader(&self.path, None);
        let mut facts = FileFacts::default();
        if dialect.is_document(&self.path, &self.head) {
            let text = String::from_utf8_lossy(&self.head);
            let ts = begun(reader.read(text.trim_start_matches(BLANK)), &mut facts);
            return (ts.unwrap_or_else(|| self.time()), facts);
        }
        for line in self.first_lines().split(|byte| *byte == b'\n') {
            let Ok(text) = std::str::from_utf8(line) else {
                continue;
            };
            let text = text.trim_matches(BLANK);
            if !text.starts_with('{') {
                continue;
            }
            if let Some(ts) = begun(reader.read(text), &mut facts) {
                return (ts, facts);
            }
        }
        (self.time(), facts)
    }

    /// Returns the file's first bytes, from which facts are read. If the first line is longer than
    /// the stored head, returns that line up to [`LONG_HEAD`] bytes.
    fn first_lines(&self) -> Cow<'_, [u8]> {
        if memchr::memchr(b'\n', &self.head).is_some() || (self.head.len() as u64) < HEAD {
            return Cow::Borrowed(&self.head);
        }
        let mut longer = Vec::new();
        let read = self
            .rest(0)
            .and_then(|rest| BufReader::new(rest.take(LONG_HEAD)).read_until(b'\n', &mut longer));
        if read.is_ok() { Cow::Owned(longer) } else { Cow::Borrowed(&self.head) }
    }
}

/// Returns the key of the first line of a file that begins with these bytes.
pub(crate) fn first_line_key(head: &[u8]) -> RecordKey {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    record_key(line.get(..FIRST_LINE).unwrap_or(line))
}

/// Returns the first time in a line that was read, or `None` if the line has no time.
/// Adds the line's facts to `facts`.
fn begun(line: Line, facts: &mut FileFacts) -> Option<Timestamp> {
    let (ts, further) = match line {
        Line::Record(record) => (record.ts, record.facts),
        Line::Several(several) => {
            let first = several.records.iter().find_map(|(_, record)| record.ts);
            (several.facts.created.or(first), several.facts)
        }
        Line::Side(facts) => (facts.created, facts),
        Line::Damage(_) => return None,
    };
    facts.learn(further);
    ts
}

pub(crate) fn modified(metadata: &Metadata) -> i64 {
    let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or(0)
}
