//! The reading position in a file, and the problems found in the file so far.

use forklore_core::agent_format::{Line, LineReader};
use forklore_store::sources::Progress;

use crate::batch::Batch;
use crate::position::Position;
use crate::problems::Problems;
use crate::report::{Problem, ProblemKind};

/// A file that is being read: its dialect's reader, the position, and the problems found so far.
pub(crate) struct Input {
    reader: Box<dyn LineReader>,
    position: Position,
    /// Number of line feeds read so far.
    lines: u64,
    /// Whether the position is inside a line that is too long.
    in_long_line: bool,
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
        Self { reader, position, lines, in_long_line, problems }
    }

    /// Classifies one line or object with the dialect's reader.
    pub(crate) fn read(&mut self, text: &str) -> Line {
        self.reader.read(text)
    }

    /// Returns the state with which the next import continues the dialect's reader at this
    /// position.
    pub(crate) fn reader_state(&self) -> Option<String> {
        // Inside a record, whose bytes are not accounted for yet, the next import reads that record
        // again. The reader then needs its state from before that record.
        match self.position.is_inside() {
            true => self.reader.memory_before(),
            false => self.reader.memory(),
        }
    }

    /// Returns the number of bytes accounted for, from the beginning of the file.
    pub(crate) fn offset(&self) -> u64 {
        self.position.offset()
    }

    /// Returns the number of line feeds read so far.
    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    /// Checks whether the position is inside a line that is too long.
    pub(crate) fn in_long_line(&self) -> bool {
        self.in_long_line
    }

    /// Returns how far the file is read. `state` is what the next import of the file needs to
    /// continue.
    pub(crate) fn progress(&self, state: String) -> Progress {
        Progress { offset: self.position.offset(), sha256: self.position.sha256(), state }
    }

    /// Returns the byte offset of the current record in the file.
    pub(crate) fn record_offset(&self) -> u64 {
        self.position.of_record()
    }

    /// Starts a record `at` bytes after the present offset.
    pub(crate) fn enter(&mut self, at: usize) {
        self.position.enter(at);
    }

    /// Ends the current record.
    pub(crate) fn leave(&mut self) {
        self.position.leave();
    }

    /// Advances the position over these bytes of the file.
    pub(crate) fn account(&mut self, bytes: &[u8]) {
        self.position.account(bytes);
    }

    /// Advances the position over bytes that are no record, and stores the bytes with the source.
    pub(crate) fn retain(&mut self, batch: &mut Batch, bytes: &[u8]) {
        batch.retain(bytes);
        self.position.account(bytes);
    }

    /// Advances the position over the bytes between records, and stores the bytes with the source.
    /// Zero bytes among them are reported as damage.
    pub(crate) fn retain_blank(&mut self, batch: &mut Batch, bytes: &[u8]) {
        if bytes.contains(&0) {
            self.problem(ProblemKind::Damage, "zero bytes");
        }
        self.retain(batch, bytes);
    }

    /// Counts the end of a line.
    pub(crate) fn end_line(&mut self) {
        self.lines += 1;
    }

    /// Advances the position over a part of a line that is too long, and stores the part with the
    /// source.
    pub(crate) fn retain_long(&mut self, batch: &mut Batch, bytes: &[u8], first: bool, last: bool) {
        if first {
            self.problem(ProblemKind::LineTooLong, "the line is too long for a record");
        }
        self.retain(batch, bytes);
        self.in_long_line = !last;
        self.lines += u64::from(last);
    }

    /// Adds a problem of the current record.
    pub(crate) fn problem(&mut self, kind: ProblemKind, message: &str) {
        self.problem_after(&[], kind, message);
    }

    /// Adds a problem of the current record. `before` are the bytes of the file between the present
    /// offset and the problem; the line feeds in them count for the line number of the problem.
    pub(crate) fn problem_after(&mut self, before: &[u8], kind: ProblemKind, message: &str) {
        let lines = memchr::memchr_iter(b'\n', before).count() as u64;
        self.problems.add(self.lines + lines + 1, self.position.of_record(), kind, message);
    }

    pub(crate) fn into_problems(self) -> Vec<Problem> {
        self.problems.into_list()
    }
}
