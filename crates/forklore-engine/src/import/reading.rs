//! Reading one file on from where it stood: lines to records, records to one step after another.

use std::borrow::Cow;
use std::path::Path;

use forklore_model::SessionId;
use forklore_model::dialect::{Dialect, Line, LineReader};
use forklore_model::limits::TITLE_BYTES;
use forklore_store::sources::{
    LineEnd, Place, Progress, RecordKey, SeenFile, SourceId, Sources, Step, Target, Write,
};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::batch::Batch;
use super::lines::{Lines, Piece};
use super::objects::{Part, blank_len, parts};
use super::opened::Opened;
use super::problems::Problems;
use super::report::ProblemKind;
use super::session::{FileSession, Standing};
use super::state::State;
use super::taken::Taken;
use super::{ImportOptions, Progressed};
use crate::{Engine, Error, Result};

/// One file while it is read.
pub(super) struct Reading<'a> {
    pub(super) engine: &'a Engine,
    pub(super) sources: &'a dyn Sources,
    pub(super) options: &'a ImportOptions,
    pub(super) dialect: &'a dyn Dialect,
    pub(super) reader: Box<dyn LineReader>,
    pub(super) seen: SeenFile,
    pub(super) stem: String,
    pub(super) file_time: Timestamp,
    pub(super) target: Target,
    pub(super) source: Option<SourceId>,
    pub(super) sessions: Vec<FileSession>,
    pub(super) state: State,
    pub(super) batch: Batch,
    pub(super) hash: Sha256,
    pub(super) offset: u64,
    pub(super) problems: Problems,
    pub(super) taken: &'a mut Taken,
    /// The id of the record read last, and its place: what nearly every next record continues.
    pub(super) tip: Option<(RecordKey, Place)>,
}

impl Reading<'_> {
    /// Reads the file to its end.
    pub(super) fn run(
        &mut self,
        file: &Opened,
        progress: &mut dyn FnMut(Progressed<'_>),
    ) -> Result<()> {
        let failed = |error| Error::io(format!("cannot read {}", file.seen.path), error);
        let rest = file.rest(self.offset).map_err(failed)?;
        let mut lines = Lines::new(rest, self.state.in_long_line);
        while let Some(piece) = lines.next().map_err(failed)? {
            match piece {
                Piece::Line(line) => self.line(line)?,
                Piece::Tail(tail) => self.tail(tail)?,
                Piece::Long { bytes, first, last } => self.long(bytes, first, last),
            }
            if self.batch.is_full() {
                self.flush(false)?;
                progress(self.progressed(&file.path));
            }
        }
        self.finish()?;
        progress(self.progressed(&file.path));
        Ok(())
    }

    fn progressed<'p>(&self, path: &'p Path) -> Progressed<'p> {
        Progressed {
            path,
            done: self.offset,
            total: self.seen.size,
        }
    }

    /// Nearly every line is one object and a line end; the others are taken apart.
    fn line(&mut self, line: &[u8]) -> Result<()> {
        let blank = line.get(..blank_len(line)).unwrap_or_default();
        let content = line.get(blank.len()..).unwrap_or_default();
        let object = content.trim_ascii_end();
        if object.first() == Some(&b'{')
            && let Ok(text) = std::str::from_utf8(object)
            && let read @ (Line::Record(_) | Line::Side(_)) = self.reader.read(text)
        {
            let behind = content.get(object.len()..).unwrap_or_default();
            let end = line_end(behind);
            self.blank(blank);
            self.object(read, object, text, end)?;
            if end == LineEnd::None {
                self.keep(behind);
            }
        } else {
            self.apart(line, true)?;
        }
        self.state.lines += 1;
        Ok(())
    }

    /// A last line without its end: what is whole in it is read, the rest waits.
    fn tail(&mut self, tail: &[u8]) -> Result<()> {
        self.apart(tail, false)
    }

    fn apart(&mut self, line: &[u8], whole: bool) -> Result<()> {
        let mut objects = 0;
        for part in parts(line) {
            match part {
                Part::Blank(blank) => self.blank(blank),
                Part::Object(bytes) => {
                    objects += 1;
                    if objects == 2 {
                        self.problem(ProblemKind::Splice, "several records in one line");
                    }
                    let text = String::from_utf8_lossy(bytes);
                    if matches!(text, Cow::Owned(_)) {
                        self.problem(ProblemKind::NotUtf8, "the record is not UTF-8");
                    }
                    let read = self.reader.read(&text);
                    self.object(read, bytes, &text, LineEnd::None)?;
                }
                Part::Rest(rest) if whole => {
                    self.problem(ProblemKind::Damage, "no record can be read here");
                    self.keep(rest);
                }
                Part::Rest(_) => {
                    self.problem(
                        ProblemKind::Incomplete,
                        "the last line is not whole; it waits",
                    );
                }
            }
        }
        Ok(())
    }

    fn long(&mut self, bytes: &[u8], first: bool, last: bool) {
        if first {
            self.problem(
                ProblemKind::LineTooLong,
                "the line is too long for a record",
            );
        }
        self.keep(bytes);
        self.state.in_long_line = !last;
        self.state.lines += u64::from(last);
    }

    /// `text` is what `bytes` say, with replacement characters where they are not UTF-8.
    fn object(&mut self, read: Line, bytes: &[u8], text: &str, end: LineEnd) -> Result<()> {
        match read {
            Line::Record(mut record) => {
                self.state.facts.learn(std::mem::take(&mut record.facts));
                match self.record(&record, text)? {
                    None => self.batch.gone(bytes.len() + end.bytes().len()),
                    Some(place) if text.as_bytes() == bytes => self.batch.event(place, end),
                    Some(place) => {
                        self.batch.raw(place, bytes);
                        self.batch.keep(end.bytes());
                    }
                }
            }
            other => {
                match other {
                    Line::Side(facts) => self.state.facts.learn(facts),
                    Line::Damage(message) => self.problem(ProblemKind::Damage, &message),
                    Line::Record(_) => {}
                }
                self.batch.keep(bytes);
                self.batch.keep(end.bytes());
            }
        }
        self.account(bytes);
        self.account(end.bytes());
        Ok(())
    }

    fn blank(&mut self, bytes: &[u8]) {
        if bytes.contains(&0) {
            self.problem(ProblemKind::Damage, "zero bytes");
        }
        self.keep(bytes);
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.batch.keep(bytes);
        self.account(bytes);
    }

    fn account(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.offset += bytes.len() as u64;
    }

    pub(super) fn problem(&mut self, kind: ProblemKind, message: &str) {
        self.problems
            .add(self.state.lines + 1, self.offset, kind, message);
    }

    /// Writes what was gathered. `whole` says that the file was read to its end.
    pub(super) fn flush(&mut self, whole: bool) -> Result<()> {
        self.state.reader = self.reader.memory();
        let batch = std::mem::take(&mut self.batch);
        let path = self.seen.path.clone();
        let seen = if whole {
            self.seen.clone()
        } else {
            SeenFile {
                path,
                size: 0,
                modified: 0,
            }
        };
        let read = Progress {
            offset: self.offset,
            sha256: self.hash.clone().finalize().into(),
            state: self.state.text(),
        };
        let step = Step {
            target: self.target.clone(),
            native_id: self.native_id(),
            seen,
            writes: batch.writes,
            ranges: batch.ranges,
            places: batch.places,
            read,
        };
        let id = self.sources.import(step)?;
        self.source = Some(id);
        self.target = Target::Known {
            id,
            offset: self.offset,
        };
        Ok(())
    }

    /// The last step: what is left, and what the file says about itself by now.
    fn finish(&mut self) -> Result<()> {
        let first = self
            .sessions
            .first()
            .filter(|first| first.standing != Standing::Deleted);
        if let Some(session) = first.map(|first| first.id.clone()) {
            if self.state.told.title != self.state.facts.title {
                self.state.told.title.clone_from(&self.state.facts.title);
                let title = self.title();
                self.batch.writes.push(Write::Title {
                    session: session.clone(),
                    title,
                });
            }
            if self.state.told.leaf != self.state.leaf {
                self.state.told.leaf = self.state.leaf;
                let leaf = self.leaf();
                self.batch
                    .writes
                    .extend(leaf.map(|leaf| Write::Leaf { session, leaf }));
            }
        }
        if self.offset == 0 && self.source.is_none() {
            return Ok(());
        }
        self.flush(true)
    }

    pub(super) fn leaf(&self) -> Option<SessionId> {
        let leaf = self.sessions.get(usize::try_from(self.state.leaf?).ok()?)?;
        Some(leaf.id.clone())
    }

    /// The title that the file tells, as far as titles may be long.
    pub(super) fn title(&self) -> Option<String> {
        let title = self
            .state
            .facts
            .title
            .as_deref()
            .filter(|title| !title.is_empty())?;
        Some(
            title
                .get(..title.floor_char_boundary(TITLE_BYTES))
                .unwrap_or(title)
                .to_owned(),
        )
    }

    pub(super) fn native_id(&self) -> String {
        self.state
            .facts
            .native_id
            .clone()
            .unwrap_or_else(|| self.stem.clone())
    }
}

fn line_end(behind: &[u8]) -> LineEnd {
    match behind {
        b"\n" => LineEnd::Lf,
        b"\r\n" => LineEnd::CrLf,
        _ => LineEnd::None,
    }
}
