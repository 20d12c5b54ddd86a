//! How far a file is read, and its problems so far.

use forklore_core::agent_format::{Line, LineReader};
use forklore_store::sources::Progress;

use crate::batch::Batch;
use crate::position::Position;
use crate::problems::Problems;
use crate::report::{Problem, ProblemKind};

/// A file while it is read: its reader, how far it is read, and its problems so far.
pub(crate) struct Input {
    reader: Box<dyn LineReader>,
    position: Position,
    /// Number of line feeds read.
    lines: u64,
    /// Whether the last piece read is inside a line that is too long.
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

    /// Classifies one line.
    pub(crate) fn read(&mut self, text: &str) -> Line {
        self.reader.read(text)
    }

    /// Returns the state that a reader of the rest of the file needs.
    pub(crate) fn reader_state(&self) -> Option<String> {
        // Inside a text that is not accounted for, the reader needs its state from before that
        // text.
        match self.position.is_inside() {
            true => self.reader.memory_before(),
            false => self.reader.memory(),
        }
    }

    /// Returns the number of bytes read.
    pub(crate) fn offset(&self) -> u64 {
        self.position.offset()
    }

    /// Returns the number of line feeds read.
    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    /// Checks whether the last piece read is inside a line that is too long.
    pub(crate) fn in_long_line(&self) -> bool {
        self.in_long_line
    }

    /// Returns how far the file is read, with the state that the next import of it needs.
    pub(crate) fn progress(&self, state: String) -> Progress {
        Progress { offset: self.position.offset(), sha256: self.position.sha256(), state }
    }

    /// Returns the byte offset of the present record in the file.
    pub(crate) fn record_offset(&self) -> u64 {
        self.position.of_record()
    }

    /// Starts a record at `at` in the text that begins at the present offset.
    pub(crate) fn enter(&mut self, at: usize) {
        self.position.enter(at);
    }

    /// Ends the present record.
    pub(crate) fn leave(&mut self) {
        self.position.leave();
    }

    /// Accounts for further bytes of the file.
    pub(crate) fn account(&mut self, bytes: &[u8]) {
        self.position.account(bytes);
    }

    /// Accounts for bytes that are no record, and stores them with the source.
    pub(crate) fn retain(&mut self, batch: &mut Batch, bytes: &[u8]) {
        batch.retain(bytes);
        self.position.account(bytes);
    }

    /// Accounts for the bytes between records, and stores them with the source.
    pub(crate) fn retain_blank(&mut self, batch: &mut Batch, bytes: &[u8]) {
        if bytes.contains(&0) {
            self.problem(ProblemKind::Damage, "zero bytes");
        }
        self.retain(batch, bytes);
    }

    /// Ends a line.
    pub(crate) fn end_line(&mut self) {
        self.lines += 1;
    }

    /// Accounts for a part of a line that is too long, and stores it with the source.
    pub(crate) fn retain_long(&mut self, batch: &mut Batch, bytes: &[u8], first: bool, last: bool) {
        if first {
            self.problem(ProblemKind::LineTooLong, "the line is too long for a record");
        }
        self.retain(batch, bytes);
        self.in_long_line = !last;
        self.lines += u64::from(last);
    }

    /// Adds a problem of the present record.
    pub(crate) fn problem(&mut self, kind: ProblemKind, message: &str) {
        self.problem_after(&[], kind, message);
    }

    /// Adds a problem that comes after bytes of the present record.
    pub(crate) fn problem_after(&mut self, before: &[u8], kind: ProblemKind, message: &str) {
        let lines = memchr::memchr_iter(b'\n', before).count() as u64;
        self.problems.add(self.lines + lines + 1, self.position.of_record(), kind, message);
    }

    pub(crate) fn into_problems(self) -> Vec<Problem> {
        self.problems.into_list()
    }
}
