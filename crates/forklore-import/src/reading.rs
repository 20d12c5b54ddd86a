//! Reads one file from where the last import stopped, splits its lines into records, and writes the
//! records in steps.

use std::path::Path;

use bytes::Bytes;
use bytestring::ByteString;
use forklore_core::agent_format::Line;
use forklore_engine::{Error, Result};
use forklore_store::sources::{LineEnd, RecordKey};

use crate::input::Input;
use crate::lines::{LengthCheck, Lines, Piece};
use crate::objects::{Part, blank_len, parts};
use crate::opened::Opened;
use crate::options::ImportOptions;
use crate::progress::Progressed;
use crate::pushed_lines::PushedLine;
use crate::pushed_state::PushedState;
use crate::records::Records;
use crate::report::ProblemKind;
use crate::writer::LONG;
use crate::{document, import_object};

/// Reads one session file and imports its records.
pub(crate) struct Reading<'a> {
    input: Input,
    records: Records<'a>,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(input: Input, records: Records<'a>) -> Self {
        Self { input, records }
    }

    /// Returns the number of bytes of the file that were imported, counted from its beginning.
    pub(crate) fn offset(&self) -> u64 {
        self.input.offset()
    }

    /// Checks whether sessions were read from the file until now.
    pub(crate) fn has_sessions(&self) -> bool {
        !self.records.sessions().is_empty()
    }

    /// Returns the input (the reading position and the problems found), and the importer of the
    /// file's records.
    pub(crate) fn into_parts(self) -> (Input, Records<'a>) {
        (self.input, self.records)
    }

    /// Reads the file from the reading position to its end, or until the caller stops the import.
    pub(crate) fn run(
        &mut self,
        file: &Opened,
        options: &ImportOptions,
        progress: &mut dyn FnMut(Progressed<'_>),
    ) -> Result<()> {
        let offset = self.input.offset();
        if file.document && offset == 0 {
            document::import(&mut self.input, &mut self.records, file)?;
            progress(self.progressed(&file.path));
            return Ok(());
        }
        if !file.may_be_long(offset.saturating_add(LONG)) {
            return self.read_all(file, options, progress);
        }
        std::thread::scope(|scope| {
            self.records.output().start_writer(scope);
            let read = self.read_all(file, options, progress);
            let settled = self.records.output().end_writer();
            read.and(settled)
        })
    }

    fn read_all(
        &mut self,
        file: &Opened,
        options: &ImportOptions,
        progress: &mut dyn FnMut(Progressed<'_>),
    ) -> Result<()> {
        let failed = |error| Error::io(format!("cannot read {}", file.seen.path), error);
        let rest = file.rest(self.input.offset()).map_err(failed)?;
        // The content of a compressed file may be longer than the file.
        let len = if file.packed { u64::MAX } else { file.seen.size };
        let len = len.saturating_sub(self.input.offset());
        let from = self.input.offset();
        let length_check: Option<LengthCheck<'_>> = match file.packed {
            true => None,
            false => Some(Box::new(move |at| file.has_long_line(from + at))),
        };
        let mut lines = Lines::new(rest, len, self.input.in_long_line(), length_check);
        let mut unfinished = Bytes::new();
        while let Some(piece) = lines.next().map_err(failed)? {
            match piece {
                Piece::Line(line) => self.line(&line)?,
                Piece::Tail(tail) => unfinished = self.apart(&tail, false)?,
                Piece::Long { bytes, first, last } => {
                    self.input.retain_long(self.records.batch(), &bytes, first, last);
                }
            }
            if self.records.batch().is_full() {
                self.records.flush(&self.input, false)?;
                progress(self.progressed(&file.path));
                if options.is_stopped() {
                    return Ok(());
                }
            }
        }
        drop(lines);
        self.input.wait(self.records.batch(), &unfinished);
        drop(unfinished);
        if let Some((kind, why)) = file.trouble() {
            self.input.problem(kind, &why);
        }
        self.records.finish(&mut self.input)?;
        progress(self.progressed(&file.path));
        Ok(())
    }

    /// Imports lines that a program passes on, each with a line end, up to the end of the file so
    /// far. Writes them in one step, unless a branch begins at one of them.
    pub(crate) fn push(&mut self, lines: &[PushedLine], state: PushedState) -> Result<()> {
        self.records.set_pushed(state);
        for line in lines {
            self.line(&line.text)?;
            if let Some(key) = line.key {
                self.records.add_side(key);
            }
        }
        self.records.finish(&mut self.input)
    }

    /// Adds a key by which the store finds the file.
    pub(crate) fn name(&mut self, name: RecordKey) {
        self.records.batch().name(name);
    }

    /// Creates the file's session if the file has none.
    pub(crate) fn begin(&mut self) -> Result<()> {
        self.records.begin_if_missing(&mut self.input)
    }

    fn progressed<'p>(&self, path: &'p Path) -> Progressed<'p> {
        // The size of a compressed file's content is unknown until it is read.
        let offset = self.input.offset();
        Progressed::of(path, offset, self.records.file().seen().size.max(offset))
    }

    /// Imports one line of the file. Nearly every line is one JSON object and a line end. Any other
    /// line is split into its objects.
    fn line(&mut self, line: &Bytes) -> Result<()> {
        let (blank, content) = line.split_at(blank_len(line));
        let object = content.trim_ascii_end();
        if object.first() == Some(&b'{')
            && let Ok(text) = ByteString::try_from(line.slice_ref(object))
            && let read @ (Line::Record(_) | Line::Side(_) | Line::Several(_)) =
                self.input.read(&text)
        {
            let behind = content.get(object.len()..).unwrap_or_default();
            let end = line_end(behind);
            self.input.retain_blank(self.records.batch(), blank);
            import_object::import(&mut self.input, &mut self.records, read, text, None, end)?;
            if end == LineEnd::None {
                self.input.retain(self.records.batch(), behind);
            }
        } else {
            self.apart(line, true)?;
        }
        self.input.end_line();
        Ok(())
    }

    /// Imports the JSON objects in a line that is not simply one object. `whole` is false for a
    /// last line without a line end. Of such a line, only complete objects are imported. Returns
    /// the rest of the line, which the next import reads again.
    fn apart(&mut self, line: &Bytes, whole: bool) -> Result<Bytes> {
        let Self { input, records } = self;
        let (mut objects, mut unfinished) = (0, Bytes::new());
        for part in parts(line) {
            match part {
                Part::Blank(blank) => input.retain_blank(records.batch(), blank),
                Part::Object(bytes) => {
                    objects += 1;
                    if objects == 2 {
                        input.problem(ProblemKind::Splice, "several records in one line");
                    }
                    let (text, raw) = match ByteString::try_from(line.slice_ref(bytes)) {
                        Ok(text) => (text, None),
                        Err(_) => {
                            input.problem(ProblemKind::NotUtf8, "the record is not UTF-8");
                            (ByteString::from(&*String::from_utf8_lossy(bytes)), Some(bytes))
                        }
                    };
                    let read = input.read(&text);
                    import_object::import(input, records, read, text, raw, LineEnd::None)?;
                }
                Part::Rest(rest) if whole => {
                    input.problem(ProblemKind::Damage, "no record can be read here");
                    input.retain(records.batch(), rest);
                }
                Part::Rest(rest) => {
                    input.problem(ProblemKind::Incomplete, "the last line is not whole; it waits");
                    unfinished = line.slice_ref(rest);
                }
            }
        }
        Ok(unfinished)
    }
}

fn line_end(behind: &[u8]) -> LineEnd {
    match behind {
        b"\n" => LineEnd::Lf,
        b"\r\n" => LineEnd::CrLf,
        _ => LineEnd::None,
    }
}
