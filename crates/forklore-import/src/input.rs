//! The reading position in a file, and the problems found in the file so far.

use forklore_core::agent_format::{Line, LineReader};
use forklore_store::sources::Progress;
use sha2::Sha256;

use crate::batch::Batch;
use crate::position::Position;
use crate::problems::Problems;
use crate::report::{Problem, ProblemKind};
use crate::unfinished_line::UnfinishedLine;

/// A file that is being read: the reader of its format, the position, and the problems found so
/// far.
pub(crate) struct Input {
    reader: Box<dyn LineReader>,
    position: Position,
    /// Number of line feeds read so far in the file.
    lines: u64,
    /// Whether the reading position is inside a line that is too long to be a record.
    in_long_line: bool,
    /// The unfinished last line that the store has of the file; `None` if the store has none.
    unfinished: Option<UnfinishedLine>,
    problems: Problems,
}

impl Input {
    pub(crate) fn new(
        reader: Box<dyn LineReader>,
        position: Position,
        lines: u64,
        in_long_line: bool,
        problems: Problems,
    ) -> Self {
        Self { reader, position, lines, in_long_line, unfinished: None, problems }
    }

    /// Sets the unfinished last line that earlier imports stored. The line begins at the reading
    /// position.
    pub(crate) fn with_unfinished(self, unfinished: Option<UnfinishedLine>) -> Self {
        Self { unfinished, ..self }
    }

    /// Returns the unfinished last line that the store has of the file; `None` if the store has
    /// none.
    pub(crate) fn unfinished(&self) -> Option<UnfinishedLine> {
        self.unfinished
    }

    /// Passes the file's unfinished last line to the store, except for the bytes of this line that
    /// the store already has. The reading position remains before the line. `line` is empty if the
    /// file's last line is complete; the store then has no unfinished line any more.
    pub(crate) fn wait(&mut self, batch: &mut Batch, line: &[u8]) {
        let new = (!line.is_empty()).then(|| UnfinishedLine::of(line));
        let old = std::mem::replace(&mut self.unfinished, new);
        if old == new {
            return;
        }
        let after = old.map_or(0, |old| old.len_in(line));
        let more = usize::try_from(after).ok().and_then(|after| line.get(after..));
        batch.wait(after, more.unwrap_or_default(), self.position.sha256_with(line));
    }

    /// Reads one line or object with the reader of the file's format.
    pub(crate) fn read(&mut self, text: &str) -> Line {
        self.reader.read(text)
    }

    /// Returns the state of the format's reader at the reading position. The next import of the
    /// file continues with this state. Returns `None` if the reader has no state.
    pub(crate) fn reader_state(&self) -> Option<String> {
        // The bytes of a record count as imported only at its end. If this step ends inside a
        // record, the next import reads that record again. The reader then needs its state from
        // before the record.
        match self.position.is_inside() {
            true => self.reader.memory_before(),
            false => self.reader.memory(),
        }
    }

    /// Returns how many bytes of the file were imported so far, counted from its beginning.
    pub(crate) fn offset(&self) -> u64 {
        self.position.offset()
    }

    /// Returns the number of line feeds read so far in the file.
    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    /// Checks whether the reading position is inside a line that is too long to be a record.
    pub(crate) fn in_long_line(&self) -> bool {
        self.in_long_line
    }

    /// Returns the state of the sha256 of all bytes that were imported so far.
    pub(crate) fn hash(&self) -> &Sha256 {
        self.position.hash()
    }

    /// Returns how far the file was read: offset, hash and `state`. The next import of the file
    /// continues with `state`.
    pub(crate) fn progress(&self, state: String) -> Progress {
        Progress { offset: self.position.offset(), sha256: self.position.sha256(), state }
    }

    /// Returns the byte offset in the file at which the current record begins.
    pub(crate) fn record_offset(&self) -> u64 {
        self.position.of_record()
    }

    /// Marks the start of a record, `at` bytes after the reading position.
    pub(crate) fn enter(&mut self, at: usize) {
        self.position.enter(at);
    }

    /// Marks the end of the current record.
    pub(crate) fn leave(&mut self) {
        self.position.leave();
    }

    /// Advances the reading position over these bytes of the file, and adds them to the hash of the
    /// imported bytes.
    pub(crate) fn account(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.unfinished = None;
        }
        self.position.account(bytes);
    }

    /// Advances the reading position over bytes that become no record. The store gets the bytes, so
    /// that the file can be restored.
    pub(crate) fn retain(&mut self, batch: &mut Batch, bytes: &[u8]) {
        batch.retain(bytes);
        self.account(bytes);
    }

    /// Advances the reading position over the bytes between two records. The store gets the bytes,
    /// so that the file can be restored. Reports zero bytes among them as damage.
    pub(crate) fn retain_blank(&mut self, batch: &mut Batch, bytes: &[u8]) {
        if bytes.contains(&0) {
            self.problem(ProblemKind::Damage, "zero bytes");
        }
        self.retain(batch, bytes);
    }

    /// Counts one line, because its end was read.
    pub(crate) fn end_line(&mut self) {
        self.lines += 1;
    }

    /// Advances the reading position over a part of a line that is too long to be a record. The
    /// store gets the part, so that the file can be restored. `first` means that the line begins
    /// with this part, and `last` means that the line ends with it.
    pub(crate) fn retain_long(&mut self, batch: &mut Batch, bytes: &[u8], first: bool, last: bool) {
        if first {
            self.problem(ProblemKind::LineTooLong, "the line is too long for a record");
        }
        self.retain(batch, bytes);
        self.in_long_line = !last;
        self.lines += u64::from(last);
    }

    /// Reports a problem at the current record, or at the reading position if there is no record.
    pub(crate) fn problem(&mut self, kind: ProblemKind, message: &str) {
        self.problem_after(&[], kind, message);
    }

    /// Reports a problem at the current record. `before` are the bytes between the reading position
    /// and the problem; the line feeds in them count for the problem's line number.
    pub(crate) fn problem_after(&mut self, before: &[u8], kind: ProblemKind, message: &str) {
        let lines = memchr::memchr_iter(b'\n', before).count() as u64;
        self.problems.add(self.lines + lines + 1, self.position.of_record(), kind, message);
    }

    pub(crate) fn into_problems(self) -> Vec<Problem> {
        self.problems.into_list()
    }
}
