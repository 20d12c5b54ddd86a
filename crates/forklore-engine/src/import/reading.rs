//! Reading one file on from where it stood: lines to records, records to one step after another.

use std::path::Path;

use forklore_model::dialect::{Dialect, Line, LineReader, Record};
use forklore_store::sources::{LineEnd, Progress, RecordKey, SeenFile, SourceId, Sources, Step, Target, Write};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::batch::Batch;
use super::lines::{Lines, Piece};
use super::objects::{Part, blank_len, parts};
use super::opened::Opened;
use super::problems::Problems;
use super::report::ProblemKind;
use super::session::FileSession;
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
    pub(super) told: Told,
    pub(super) batch: Batch,
    pub(super) hash: Sha256,
    pub(super) offset: u64,
    pub(super) problems: Problems,
    pub(super) taken: &'a mut Taken,
    /// The id of the record read last, and its place: what nearly every next record continues.
    pub(super) tip: Option<(RecordKey, forklore_store::sources::Place)>,
}

/// What the header of the file's first session says already.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Told {
    pub(super) title: Option<String>,
    pub(super) leaf: Option<u32>,
}

impl Reading<'_> {
    /// Reads the file to its end.
    pub(super) fn run(&mut self, file: &Opened, progress: &mut dyn FnMut(Progressed<'_>)) -> Result<()> {
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
        Progressed { path, done: self.offset, total: self.seen.size }
    }

    /// Nearly every line is one object and a line end; the others are taken apart.
    fn line(&mut self, line: &[u8]) -> Result<()> {
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        let blank = blank_len(content);
        let object = content.get(blank..).unwrap_or_default().trim_ascii_end();
        if object.first() == Some(&b'{')
            && let Ok(text) = std::str::from_utf8(object)
        {
            match self.reader.read(text) {
                Line::Damage(_) => {}
                read => {
                    let behind = line.get(blank + object.len()..).unwrap_or_default();
                    self.keep(line.get(..blank).unwrap_or_default(), true);
                    let end = line_end(behind);
                    self.read(read, object, text, end)?;
                    self.account(object);
                    if end == LineEnd::None || !self.ends_with_event() {
                        self.keep(behind, false);
                    } else {
                        self.account(behind);
                    }
                    self.state.lines += 1;
                    return Ok(());
                }
            }
        }
        self.apart(line, true)?;
        self.state.lines += 1;
        Ok(())
    }
}

fn line_end(behind: &[u8]) -> LineEnd {
    match behind {
        b"\n" => LineEnd::Lf,
        b"\r\n" => LineEnd::CrLf,
        _ => LineEnd::None,
    }
}
