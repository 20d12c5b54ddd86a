//! Reads one file from where the last import stopped: lines into records, records into one step
//! after another.

use std::path::Path;

use bytes::Bytes;
use bytestring::ByteString;
use forklore_core::agent_format::{FileFacts, Line, LineReader};
use forklore_engine::{Engine, Error, Result};
use forklore_store::sources::{LineEnd, RecordKey, RecordLocation, SourceId, Sources, Target};

use crate::batch::Batch;
use crate::copied_prefix::OriginalEvents;
use crate::earlier_revision::EarlierRevision;
use crate::file_identity::FileIdentity;
use crate::file_session::FileSession;
use crate::lines::{Lines, Piece};
use crate::lookup::Lookup;
use crate::name_conflicts::NameConflicts;
use crate::objects::{Part, blank_len, parts};
use crate::opened::Opened;
use crate::position::Position;
use crate::problems::Problems;
use crate::report::ProblemKind;
use crate::resume_state::ResumeState;
use crate::writer::{LONG, Writer};
use crate::{ImportOptions, Progressed};

/// The state of reading one file.
pub(crate) struct Reading<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) sources: &'a dyn Sources,
    pub(crate) options: &'a ImportOptions,
    pub(crate) file: FileIdentity<'a>,
    pub(crate) reader: Box<dyn LineReader>,
    pub(crate) target: Target,
    pub(crate) source: Option<SourceId>,
    pub(crate) sessions: Vec<FileSession>,
    pub(crate) state: ResumeState,
    pub(crate) batch: Batch,
    pub(crate) position: Position,
    pub(crate) problems: Problems,
    pub(crate) writer: Option<Writer>,
    pub(crate) conflicts: &'a mut NameConflicts,
    /// The key and location of the last record, which the next record continues almost always.
    pub(crate) tip: Option<(RecordKey, RecordLocation)>,
    /// The events that the records read so far repeat.
    pub(crate) original: Option<OriginalEvents>,
    /// The earlier revision of the file, while records may repeat it.
    pub(crate) earlier: Option<EarlierRevision>,
}

impl Reading<'_> {
    /// Reads the file to its end, or until the import is stopped.
    pub(crate) fn run(
        &mut self,
        file: &Opened,
        progress: &mut dyn FnMut(Progressed<'_>),
    ) -> Result<()> {
        if file.document && self.position.offset() == 0 {
            self.document(file)?;
            progress(self.progressed(&file.path));
            return Ok(());
        }
        if !file.may_be_long(self.position.offset().saturating_add(LONG)) {
            return self.read_all(file, progress);
        }
        let sources = self.sources;
        std::thread::scope(|scope| {
            self.writer = Some(Writer::start(scope, sources));
            let read = self.read_all(file, progress);
            let settled = self.settle();
            self.writer = None;
            read.and(settled)
        })
    }

    fn read_all(&mut self, file: &Opened, progress: &mut dyn FnMut(Progressed<'_>)) -> Result<()> {
        let failed = |error| Error::io(format!("cannot read {}", file.seen.path), error);
        let rest = file.rest(self.position.offset()).map_err(failed)?;
        let mut lines = Lines::new(rest, self.state.in_long_line);
        while let Some(piece) = lines.next().map_err(failed)? {
            match piece {
                Piece::Line(line) => self.line(&line)?,
                Piece::Tail(tail) => self.tail(&tail)?,
                Piece::Long { bytes, first, last } => self.long(&bytes, first, last),
            }
            if self.batch.is_full() {
                self.flush(false)?;
                progress(self.progressed(&file.path));
                if self.options.is_stopped() {
                    return Ok(());
                }
            }
        }
        drop(lines);
        if let Some((kind, why)) = file.trouble() {
            self.problem(kind, &why);
        }
        self.finish()?;
        progress(self.progressed(&file.path));
        Ok(())
    }

    fn progressed<'p>(&self, path: &'p Path) -> Progressed<'p> {
        // The size of a compressed file's content is not known in advance.
        Progressed::of(
            path,
            self.position.offset(),
            self.file.seen.size.max(self.position.offset()),
        )
    }

    /// Reads a line. Nearly every line is one object and a line end; any other line is split.
    fn line(&mut self, line: &Bytes) -> Result<()> {
        let (blank, content) = line.split_at(blank_len(line));
        let object = content.trim_ascii_end();
        if object.first() == Some(&b'{')
            && let Ok(text) = ByteString::try_from(line.slice_ref(object))
            && let read @ (Line::Record(_) | Line::Side(_) | Line::Several(_)) =
                self.reader.read(&text)
        {
            let behind = content.get(object.len()..).unwrap_or_default();
            let end = line_end(behind);
            self.blank(blank);
            self.object(read, text, None, end)?;
            if end == LineEnd::None {
                self.retain(behind);
            }
        } else {
            self.apart(line, true)?;
        }
        self.state.lines += 1;
        Ok(())
    }

    /// Reads a last line without a line end: its complete objects are read, the rest waits for the
    /// next import.
    fn tail(&mut self, tail: &Bytes) -> Result<()> {
        self.apart(tail, false)
    }

    fn apart(&mut self, line: &Bytes, whole: bool) -> Result<()> {
        let mut objects = 0;
        for part in parts(line) {
            match part {
                Part::Blank(blank) => self.blank(blank),
                Part::Object(bytes) => {
                    objects += 1;
                    if objects == 2 {
                        self.problem(ProblemKind::Splice, "several records in one line");
                    }
                    match ByteString::try_from(line.slice_ref(bytes)) {
                        Ok(text) => {
                            let read = self.reader.read(&text);
                            self.object(read, text, None, LineEnd::None)?;
                        }
                        Err(_) => {
                            self.problem(ProblemKind::NotUtf8, "the record is not UTF-8");
                            let text = ByteString::from(String::from_utf8_lossy(bytes).as_ref());
                            let read = self.reader.read(&text);
                            self.object(read, text, Some(bytes), LineEnd::None)?;
                        }
                    }
                }
                Part::Rest(rest) if whole => {
                    self.problem(ProblemKind::Damage, "no record can be read here");
                    self.retain(rest);
                }
                Part::Rest(_) => {
                    self.problem(ProblemKind::Incomplete, "the last line is not whole; it waits");
                }
            }
        }
        Ok(())
    }

    fn long(&mut self, bytes: &[u8], first: bool, last: bool) {
        if first {
            self.problem(ProblemKind::LineTooLong, "the line is too long for a record");
        }
        self.retain(bytes);
        self.state.in_long_line = !last;
        self.state.lines += u64::from(last);
    }

    /// Imports an object that was read. `raw` contains its bytes if they are not UTF-8, in which
    /// case `text` has replacement characters.
    pub(crate) fn object(
        &mut self,
        read: Line,
        text: ByteString,
        raw: Option<&[u8]>,
        end: LineEnd,
    ) -> Result<()> {
        let whole = text.clone();
        let bytes = raw.unwrap_or(whole.as_bytes());
        match read {
            Line::Several(several) => {
                self.several(several, &whole, bytes)?;
                self.retain(end.bytes());
                return Ok(());
            }
            Line::Record(mut record) => {
                self.position.enter(0);
                self.learn(std::mem::take(&mut record.facts));
                let shared = if raw.is_none() { self.unchanged(&record, &text)? } else { None };
                let repeats = shared.is_none()
                    && raw.is_none()
                    && self.sessions.is_empty()
                    && self.state.comparison.is_none()
                    && self.repeats(&record, &text, end)?;
                if let Some(spot) = shared {
                    self.batch.shared(&spot, end);
                    self.take_shared(&record, spot);
                } else {
                    match (if repeats { None } else { Some(self.record(*record, text)?) }, raw) {
                        (None, _) => {}
                        (Some(None), _) => self.batch.gone(bytes.len() + end.bytes().len()),
                        (Some(Some(location)), None) => self.batch.event(location, end),
                        (Some(Some(location)), Some(raw)) => {
                            self.batch.raw(location, raw);
                            self.batch.retain(end.bytes());
                        }
                    }
                }
            }
            other => {
                match other {
                    Line::Side(facts) => self.learn(facts),
                    Line::Damage(message) => self.problem(ProblemKind::Damage, &message),
                    Line::Record(_) | Line::Several(_) => {}
                }
                self.batch.retain(bytes);
                self.batch.retain(end.bytes());
            }
        }
        self.position.leave();
        self.position.account(bytes);
        self.position.account(end.bytes());
        Ok(())
    }

    pub(crate) fn learn(&mut self, mut facts: FileFacts) {
        if let Some(what) = facts.irregular.take() {
            self.problem(ProblemKind::Irregular, &what);
        }
        self.state.facts.learn(facts);
    }

    pub(crate) fn blank(&mut self, bytes: &[u8]) {
        if bytes.contains(&0) {
            self.problem(ProblemKind::Damage, "zero bytes");
        }
        self.retain(bytes);
    }

    pub(crate) fn retain(&mut self, bytes: &[u8]) {
        self.batch.retain(bytes);
        self.position.account(bytes);
    }

    pub(crate) fn problem(&mut self, kind: ProblemKind, message: &str) {
        self.problems.add(self.state.lines + 1, self.position.of_record(), kind, message);
    }

    /// Looks up what the store has of files of the same agent.
    pub(crate) fn lookup(&self) -> Lookup<'_> {
        Lookup { engine: self.engine, sources: self.sources, format: self.file.format }
    }
}

fn line_end(behind: &[u8]) -> LineEnd {
    match behind {
        b"\n" => LineEnd::Lf,
        b"\r\n" => LineEnd::CrLf,
        _ => LineEnd::None,
    }
}
