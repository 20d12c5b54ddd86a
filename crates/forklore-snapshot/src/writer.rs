//! Writes a snapshot with `git fast-import`: one pack of what is new, and one ref.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use bstr::{BStr, ByteSlice};
use rustix::io::Errno;

use crate::git::{Git, not_started};
use crate::objects;
use crate::rests::Writing;
use crate::{Error, Result, SnapshotId};

/// The folder of a snapshot's tree that has the files of the workspace.
pub(crate) const FILES: &str = "files";
/// The file of a snapshot's tree that has what git does not record.
pub(crate) const ABOUT: &str = "about";
/// The refs of the snapshots. Each is named by the snapshot's id.
pub(crate) const REFS: &str = "refs/snapshots";

/// The refs of snapshots that are being taken.
pub(crate) const TAKING: &str = "refs/taking";

const COMMAND: &str = "fast-import";
/// The number of the commit. Files have higher ones.
const COMMIT: u64 = 1;
/// Files up to this size are read before they are written, so that their size is certain.
const AT_ONCE: u64 = 16 << 20;

/// A disk with fewer free bytes than this is full.
const FULL: u64 = 1 << 16;

/// Contents that were written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blob(u64);

/// A change of the tree.
enum Entry {
    Removed(Vec<u8>),
    /// All files, as a tree that the repository has.
    Files(String),
    Set {
        mode: &'static str,
        blob: Blob,
        path: Vec<u8>,
    },
}

/// A process of git that writes. It ends with its owner, and leaves nothing if it was not successful.
struct Process<'a> {
    git: &'a Git,
    child: Child,
    writing: Writing,
}

impl Process<'_> {
    /// Waits for the end of git. Returns its status and what it wrote about errors.
    fn end(&mut self) -> io::Result<(ExitStatus, Vec<u8>)> {
        let mut message = Vec::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            stderr.read_to_end(&mut message)?;
        }
        Ok((self.child.wait()?, message))
    }
}

impl Drop for Process<'_> {
    fn drop(&mut self) {
        self.child.kill().ok();
        if !self.child.wait().is_ok_and(|status| status.success()) {
            self.writing.clean_up(self.git);
        }
    }
}

/// A snapshot that is being written. Without [`Writer::finish`], nothing of it remains.
pub(crate) struct Writer<'a> {
    git: &'a Git,
    process: Process<'a>,
    input: BufWriter<ChildStdin>,
    answers: BufReader<ChildStdout>,
    before: Option<SnapshotId>,
    /// The changes follow the contents, because they belong to the commit.
    entries: Vec<Entry>,
    last: u64,
    /// What no other writer has.
    token: String,
}

impl<'a> Writer<'a> {
    /// Begins a snapshot that differs from the one before by what follows.
    pub(crate) fn start(git: &'a Git, before: Option<SnapshotId>) -> Result<Self> {
        let writing = Writing::begin(git)?;
        let mut command = git.command(COMMAND);
        command.args(["--quiet", "--done", "--date-format=raw", "--depth=0", "--cat-blob-fd=1"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|source| not_started(source, git.folder()))?;
        let mut process = Process { git, child, writing };
        let child = &mut process.child;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(git.failed(COMMAND, b"it has no input or output"));
        };
        let (input, answers) = (BufWriter::with_capacity(1 << 16, input), BufReader::new(output));
        let (entries, last, token) = (Vec::new(), COMMIT, token());
        Ok(Self { git, process, input, answers, before, entries, last, token })
    }

    /// Writes contents.
    pub(crate) fn blob(&mut self, contents: &[u8]) -> Result<Blob> {
        let blob = self.next();
        let done = write!(self.input, "blob\nmark :{}\ndata {}\n", blob.0, contents.len())
            .and_then(|()| self.input.write_all(contents))
            .and_then(|()| self.input.write_all(b"\n"));
        self.sent(done)?;
        Ok(blob)
    }

    /// Writes the first `size` bytes of a file, without reading a large one into memory. Returns
    /// nothing if a large file has fewer bytes: what was written is then of no use.
    pub(crate) fn stream(
        &mut self,
        file: &mut File,
        path: &Path,
        size: u64,
    ) -> Result<Option<Blob>> {
        let failed = |source| Error::File { what: "read", path: path.to_path_buf(), source };
        if size <= AT_ONCE {
            let mut contents = Vec::new();
            file.take(size).read_to_end(&mut contents).map_err(failed)?;
            return self.blob(&contents).map(Some);
        }
        let blob = self.next();
        let head = write!(self.input, "blob\nmark :{}\ndata {size}\n", blob.0);
        self.sent(head)?;
        let (mut left, mut part) = (size, vec![0; 1 << 16]);
        while left > 0 {
            let most = part.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let part = part.get_mut(..most).unwrap_or_default();
            let read = file.read(part).map_err(failed)?;
            if read == 0 {
                break;
            }
            let done = self.input.write_all(part.get(..read).unwrap_or_default());
            self.sent(done)?;
            left -= read as u64;
        }
        // git waits for as many bytes as it was promised.
        let done = io::copy(&mut io::repeat(0).take(left), &mut self.input).map(drop);
        let done = done.and_then(|()| self.input.write_all(b"\n"));
        self.sent(done)?;
        Ok((left == 0).then_some(blob))
    }

    fn next(&mut self) -> Blob {
        self.last += 1;
        Blob(self.last)
    }

    /// Removes what the snapshot before has at a path and below it.
    pub(crate) fn remove(&mut self, path: &BStr) {
        self.entries.push(Entry::Removed(quoted(path)));
    }

    /// Sets all files to those of a tree.
    pub(crate) fn files(&mut self, tree: String) {
        self.entries.push(Entry::Files(tree));
    }

    /// Sets a file.
    pub(crate) fn file(&mut self, path: &BStr, blob: Blob, executable: bool) {
        let mode = if executable { "100755" } else { "100644" };
        self.entries.push(Entry::Set { mode, blob, path: quoted(path) });
    }

    /// Sets a symbolic link.
    pub(crate) fn link(&mut self, path: &BStr, blob: Blob) {
        self.entries.push(Entry::Set { mode: "120000", blob, path: quoted(path) });
    }

    /// Ends the snapshot: when this returns, it is on the disk and has its ref.
    pub(crate) fn finish(mut self, about: &[u8]) -> Result<SnapshotId> {
        let about = self.blob(about)?;
        // Two packs with the same contents have the same name, and git refuses to write both at once.
        let token = self.token.clone();
        self.blob(token.as_bytes())?;
        let done = self.commit(about);
        self.sent(done)?;
        let mut answer = Vec::new();
        let read = self.answers.read_until(b'\n', &mut answer);
        let id = read.ok().and_then(|_| id_in(&answer));
        let Some(id) = id else { return Err(self.failed()) };
        let done = self.refer(id);
        self.sent(done)?;
        drop(self.input);
        let done = self.process.end();
        let (status, message) = done.map_err(|source| not_started(source, self.git.folder()))?;
        // Another writer may have named an equal state meanwhile: then it is recorded.
        let is_named = || {
            message.contains_str("cannot lock ref")
                && self.process.writing.wait_for_others().is_ok()
                && objects::has(self.git, id)
        };
        if status.success() || is_named() { Ok(id) } else { Err(failed(self.git, &message)) }
    }

    /// Writes the commit and asks for the id of its tree. Equal trees have equal commits: without
    /// a parent, an author or a time.
    fn commit(&mut self, about: Blob) -> io::Result<()> {
        let temporary = self.temporary();
        let input = &mut self.input;
        writeln!(input, "commit {temporary}\nmark :{COMMIT}")?;
        writeln!(input, "committer forklore <forklore> 0 +0000\ndata 0\n")?;
        if let Some(before) = self.before {
            writeln!(input, "M 040000 {before} \"\"")?;
        }
        for entry in &self.entries {
            match entry {
                Entry::Removed(path) => {
                    input.write_all(b"D ")?;
                    input.write_all(path)?;
                }
                Entry::Files(tree) => write!(input, "M 040000 {tree} {FILES}")?,
                Entry::Set { mode, blob, path } => {
                    write!(input, "M {mode} :{} ", blob.0)?;
                    input.write_all(path)?;
                }
            }
            input.write_all(b"\n")?;
        }
        writeln!(input, "M 100644 :{} {ABOUT}\n", about.0)?;
        writeln!(input, "ls :{COMMIT} \"\"")?;
        input.flush()
    }

    /// The ref that the commit has until it has the one of its snapshot.
    fn temporary(&self) -> String {
        format!("{TAKING}/{}", self.token)
    }

    fn refer(&mut self, id: SnapshotId) -> io::Result<()> {
        let temporary = self.temporary();
        let input = &mut self.input;
        writeln!(input, "reset {REFS}/{id}\nfrom :{COMMIT}\n")?;
        writeln!(input, "reset {temporary}\nfrom {:040}\n", 0)?;
        writeln!(input, "done")?;
        input.flush()
    }

    /// Returns the error of git, if writing to it failed.
    fn sent(&mut self, done: io::Result<()>) -> Result<()> {
        done.map_err(|_| self.failed())
    }

    /// Waits for git, which has ended or is about to, and returns its error.
    fn failed(&mut self) -> Error {
        // git ends when its input does, or has ended already.
        self.process.child.kill().ok();
        let message = self.process.end().map(|(_, message)| message).unwrap_or_default();
        failed(self.git, &message)
    }
}

/// Returns the error of git, or that of the operating system if that is why git failed.
fn failed(git: &Git, message: &[u8]) -> Error {
    match no_space(git, message) {
        Some(why) => Error::file("write", git.folder().join("objects"))(why),
        None => git.failed(COMMAND, message),
    }
}

/// Returns why the disk takes no more, if it does not. git repeats the words of the operating system,
/// but not if its report of the error finds no space either: then the disk itself is asked.
fn no_space(git: &Git, message: &[u8]) -> Option<Errno> {
    let words = [
        ("No space left on device", Errno::NOSPC),
        ("Out of diskspace", Errno::NOSPC),
        ("quota exceeded", Errno::DQUOT),
        ("File too large", Errno::FBIG),
    ];
    let in_words = words.into_iter().find(|(words, _)| message.contains_str(words));
    let is_full = || {
        let disk = rustix::fs::statvfs(git.folder()).ok()?;
        (disk.f_bavail.saturating_mul(disk.f_frsize) < FULL).then_some(Errno::NOSPC)
    };
    in_words.map(|(_, why)| why).or_else(is_full)
}

/// Returns a text that no other writer has, of this process or another one.
fn token() -> String {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let number = LAST.fetch_add(1, Ordering::Relaxed);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}-{number}-{}", std::process::id(), now.as_nanos())
}

/// Returns the id in the line `040000 tree ID TAB`.
fn id_in(answer: &[u8]) -> Option<SnapshotId> {
    let line = answer.trim().to_str().ok()?;
    line.strip_prefix("040000 tree ")?.parse().ok()
}

/// Returns a path of the workspace as a path of the snapshot, quoted for git.
fn quoted(path: &BStr) -> Vec<u8> {
    let mut quoted = format!("\"{FILES}/").into_bytes();
    for &byte in path.iter() {
        match byte {
            b'"' | b'\\' => quoted.extend([b'\\', byte]),
            b'\n' => quoted.extend(b"\\n"),
            _ => quoted.push(byte),
        }
    }
    quoted.push(b'"');
    quoted
}
