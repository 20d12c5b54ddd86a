//! `export` to an agent's session file. Writes the agent's own records if the session has them.
//! Otherwise writes the messages that the model would receive, in the agent's format.

use std::io::Write;
use std::path::PathBuf;

use forklore_api::{ExportTo, Exported};
use forklore_core::export::{
    Export, FileWriter, Following, NewFile, Original, Shared, TimedMessage,
};
use forklore_core::{
    Cut, Data, Event, EventType, Header, Message, OpenCalls, Redaction, SessionId, SessionKind,
};
use forklore_store::Error as StoreError;
use forklore_store::port::{At, Direction, LogEntry, Query};
use forklore_store::sources::{Source, SourceSpan};

use super::exchange::Exchanges;
use super::{Losses, listed};
use crate::inspect::{Sent, messages, no_result};
use crate::sources::StoredFile;
use crate::{Engine, Error, Result};

const BACK_EVENTS: usize = 64;

/// A session that is ready to be exported to an agent's session file.
pub struct Outgoing {
    engine: Engine,
    header: Header,
    /// The seq of the last event to export, inclusive. `None` means that no event is exported.
    end: Option<u64>,
    /// The dialect (record format) of the target agent. Records in this dialect are copied, and
    /// changed only where a new file must differ, for example in ids.
    dialect: &'static str,
    /// The original: the file from which `native` was imported, if the store has a record of it, or
    /// that of a fork which contains the same records. The files of which that one is a fork follow.
    sources: Vec<Source>,
    export: &'static dyn Export,
    file: NewFile,
    /// The session's last imported record, if that record is in the target agent's dialect (its
    /// record format). Otherwise `None`: the whole session is then written as messages.
    native: Option<LogEntry>,
}

impl Engine {
    /// Prepares the export of a session to an agent's session file. Writes nothing yet.
    ///
    /// # Errors
    /// `not_found` if the session does not exist, `invalid_args` if the cut is invalid, and
    /// `unsupported` if forklore cannot write files of the requested agent.
    pub fn export_to(&self, session: &SessionId, request: &ExportTo) -> Result<Outgoing> {
        let dialect = self.agent_formats().named(&request.dialect);
        let Some((dialect, export)) = dialect.and_then(|d| Some((d, d.export()?))) else {
            return Err(self.no_export());
        };
        let header = self.show(session)?;
        let end = match &request.at {
            Some(selector) => self.cut(&header, selector)?.seq,
            None => u64::try_from(header.head_seq()).ok(),
        };
        let mut native = self.last_record_of(&header, end, dialect.name())?;
        if native.is_some() && self.has_redacted_compaction(&header)? {
            native = None;
        }
        let branch = (header.kind == SessionKind::Branch).then(|| header.label.to_string());
        let writer = native.as_ref().map(|last| &last.origin.session_id);
        let sources = match writer {
            Some(writer) if self.sources().is_ok() && export.names_parent() => {
                self.files_up_to(&header, writer, dialect.name())?
            }
            Some(writer) if self.sources().is_ok() => self.source_of(writer)?.into_iter().collect(),
            _ => Vec::new(),
        };
        let file = NewFile {
            id: self.new_id(),
            cwd: request.cwd.clone().unwrap_or_else(|| header.workspace.as_str().to_owned()),
            now: self.now(),
            title: header.title.clone().or(branch),
            original: sources.first().zip(native.as_ref()).and_then(original),
            shared: None,
        };
        let engine = self.clone();
        Ok(Outgoing { engine, header, end, native, dialect: dialect.name(), sources, export, file })
    }

    /// Returns the agent's files from which the session and its ancestors were imported, the nearest
    /// first, up to that of the session `writer`.
    fn files_up_to(
        &self,
        header: &Header,
        writer: &SessionId,
        dialect: &str,
    ) -> Result<Vec<Source>> {
        let ancestors = self.ancestors(header)?.into_iter().map(|ancestor| ancestor.session_id);
        let nearer = std::iter::once(header.id.clone()).chain(ancestors);
        let mut files: Vec<Source> = Vec::new();
        for session in nearer.take_while(|session| session != writer).chain([writer.clone()]) {
            let source = self.source_of(&session)?.filter(|source| source.dialect == dialect);
            let is_new = |source: &Source| files.iter().all(|file| file.id != source.id);
            files.extend(source.filter(is_new));
        }
        Ok(files)
    }

    /// Returns the names of the agents whose session files forklore can write.
    #[must_use]
    pub fn agents_to_export_to(&self) -> Vec<&'static str> {
        let exporters = self.agent_formats().0.iter().filter(|dialect| dialect.export().is_some());
        exporters.map(|dialect| dialect.name()).collect()
    }

    fn no_export(&self) -> Error {
        let agents = self.agents_to_export_to().join(", ");
        Error::Unsupported(format!("sessions can be exported to plain, {agents}"))
    }

    /// Returns the last imported record at or before the seq `end`. Returns `None` if there is
    /// none, or if that record is not in `dialect` (the record format of an agent). Also returns
    /// `None` if forklore compacted the history after the record, because no agent's record can
    /// express forklore's compaction.
    fn last_record_of(
        &self,
        header: &Header,
        end: Option<u64>,
        dialect: &str,
    ) -> Result<Option<LogEntry>> {
        let mut next = end;
        while let Some(seq) = next.take() {
            let at = At::Seq(seq);
            let query =
                Query { at, direction: Direction::Backward, limit: BACK_EVENTS, bare: true };
            for stored in self.store().read(&header.id, &query)?.events {
                match &stored.event.dialect {
                    Some(name) if **name == *dialect => {
                        let (at, limit) = (At::Seq(stored.seq), 1);
                        let query = Query { at, direction: Direction::Forward, limit, bare: false };
                        return Ok(self.store().read(&header.id, &query)?.events.pop());
                    }
                    Some(_) => return Ok(None),
                    None if stored.event.kind == EventType::HISTORY_COMPACTION => return Ok(None),
                    None => next = stored.seq.checked_sub(1),
                }
            }
        }
        Ok(None)
    }

    /// Checks whether a compaction in the history of a session was redacted. No record of an agent has
    /// a compaction without its content, so an export writes what a model receives instead.
    fn has_redacted_compaction(&self, header: &Header) -> Result<bool> {
        let ancestors = self.ancestors(header)?.into_iter().map(|ancestor| ancestor.session_id);
        for session in std::iter::once(header.id.clone()).chain(ancestors) {
            let seqs = match self.store().redacted(&session) {
                // What is left of it is stored with its descendants.
                Err(StoreError::NotFound(_) | StoreError::Deleted(_)) => continue,
                seqs => seqs?,
            };
            for seq in seqs {
                let entry = self.event_at(&session, At::Seq(seq))?;
                if entry.is_some_and(|it| it.event.kind == EventType::HISTORY_COMPACTION) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

fn original((source, last): (&Source, &LogEntry)) -> Option<Original> {
    let path = source.paths.first()?.path.clone();
    let (native_id, last_record) = (source.native_id.clone(), last.event.data.clone());
    Some(Original { path, native_id, last_record })
}

impl Outgoing {
    /// Returns the properties of the new session file, such as its id. They are fixed before the
    /// write.
    #[must_use]
    pub fn file(&self) -> &NewFile {
        &self.file
    }

    /// Returns the exporter, which defines the agent's file format and the folder where the agent
    /// looks for session files.
    #[must_use]
    pub fn agent(&self) -> &'static dyn Export {
        self.export
    }

    /// Describes the beginning of the original file, so that the new file can refer to it instead
    /// of repeating it. The tuple contains the path of the original file, the payload of the last
    /// shared record, and a description of the beginning. In this description, `bytes` is 0: only
    /// the original file itself can give the byte offset. Returns `None` if the new file cannot
    /// refer to the original file.
    #[must_use]
    pub fn shareable(&self) -> Option<(String, Data, Shared)> {
        let (last, original) = (&self.native.as_ref()?.event, self.file.original.as_ref()?);
        let records = self.export.records_up_to(last)?;
        let file_id = original.native_id.clone();
        let shared = Shared { file_id, records, bytes: 0 };
        Some((original.path.clone(), last.data.clone(), shared))
    }

    /// Returns the sidecars of the original that the agent expects beside the new session, each
    /// with the path for its copy, relative to the agent's folder. Leaves out a sidecar that no
    /// exported event names.
    ///
    /// # Errors
    /// `corrupt` if stored data is damaged, `missing_ancestor` if inherited events are missing.
    pub fn sidecars(&self) -> Result<Vec<(StoredFile, PathBuf)>> {
        let Some(end) = self.end else { return Ok(Vec::new()) };
        let mut wanted: Vec<(StoredFile, PathBuf)> = Vec::new();
        for source in &self.sources {
            let files = self.engine.sidecar_files(source)?.into_iter();
            for file in files.filter(|file| file.about.latest && !file.about.gone) {
                let path = self.export.sidecar(&self.file, file.relative_path());
                let is_new = |path: &PathBuf| wanted.iter().all(|(_, other)| other != path);
                wanted.extend(path.filter(is_new).map(|path| (file, path)));
            }
        }
        let mut named = Vec::new();
        for stored in self.engine.events(&self.header.id, At::Seq(0)) {
            let stored = stored?;
            if wanted.is_empty() || stored.seq > end {
                break;
            }
            let text = stored.event.data.get();
            named.extend(wanted.extract_if(.., |(file, _)| is_named(file, text)));
        }
        Ok(named)
    }

    /// Makes the new session file refer to the beginning of the original file, described by
    /// `shared`, instead of repeating it.
    #[must_use]
    pub fn sharing(mut self, shared: Shared) -> Self {
        self.file.shared = Some(shared);
        self
    }

    /// Writes the session file to `out`. Returns how many events were exported and which were left
    /// out.
    ///
    /// # Errors
    /// `corrupt` if stored data is damaged, `missing_ancestor` if inherited events are missing, or
    /// the error of writing to `out`.
    pub fn write(&self, out: &mut dyn Write) -> Result<Exported> {
        let mut writing = Writing {
            writer: self.export.writer(&self.file),
            out,
            exchanges: Exchanges::default(),
            exported: Exported::default(),
            losses: Losses::new(),
        };
        if self.native.is_some() && writing.writer.previews() {
            self.preview(&mut *writing.writer)?;
        }
        writing.writer.begin(writing.out).map_err(failed)?;
        if self.native.is_some() {
            self.write_records(&mut writing)?;
        } else {
            self.write_view(&mut writing)?;
        }
        writing.finish_exchanges()?;
        for (kind, count) in writing.writer.finish(writing.out).map_err(failed)? {
            *writing.losses.entry(kind).or_default() += count;
        }
        writing.exported.lossy = listed(writing.losses);
        Ok(writing.exported)
    }

    /// Passes the side lines and the records of the session file to the writer, before it writes.
    fn preview(&self, writer: &mut dyn FileWriter) -> Result<()> {
        self.each_side(|line| {
            writer.preview(Following::Side(line));
            Ok(())
        })?;
        let Some(end) = self.end else { return Ok(()) };
        for stored in self.engine.events(&self.header.id, At::Seq(0)) {
            let stored = stored?;
            if stored.seq > end {
                break;
            }
            if self.is_record(&stored.event) {
                writer.preview(Following::Record(&stored.event));
            }
        }
        Ok(())
    }

    /// Checks whether the payload of an event is a record of the agent. A redacted one is not any more.
    fn is_record(&self, event: &Event) -> bool {
        event.dialect.as_deref() == Some(self.dialect) && Redaction::of(&event.data).is_none()
    }

    /// Writes the events to the session file in log order. Copies the records in the agent's own
    /// format, and writes all other events as messages between them.
    fn write_records(&self, writing: &mut Writing<'_>) -> Result<()> {
        let Some(end) = self.end else { return Ok(()) };
        let shared = self.file.shared.as_ref().and(self.native.as_ref());
        let from = shared.map_or(0, |last| last.seq + 1);
        for stored in self.engine.events(&self.header.id, At::Seq(from)) {
            let stored = stored?;
            if stored.seq > end {
                break;
            }
            let event = &stored.event;
            if self.is_record(event) {
                writing.record(event)?;
                continue;
            }
            let messages = messages::of_event(&self.engine, event);
            if event.kind == EventType::BRANCH_SUMMARY && writing.summary(event, &messages)? {
                continue;
            }
            if messages.is_empty() {
                writing.lose(event.kind.as_str());
            }
            for message in messages {
                let starts_turn = event.effect.starts_turn;
                writing.message(Sent { message, ts: event.ts, starts_turn })?;
            }
        }
        for call in self.open_calls(end)?.calls() {
            let message = no_result(&call.id, &call.name);
            writing.message(Sent { message, ts: self.file.now, starts_turn: false })?;
        }
        writing.finish_exchanges()?;
        self.write_sides(writing)
    }

    /// Returns the tool calls that have no result at the seq `end`. The exporter adds results for
    /// them, because agents require a result for each call.
    fn open_calls(&self, end: u64) -> Result<OpenCalls> {
        let cut = Cut { seq: Some(end), ..Cut::default() };
        self.engine.open_calls(&self.header, &cut)
    }

    /// Writes the side lines of the original session file: the JSON lines that were not imported as
    /// events.
    fn write_sides(&self, writing: &mut Writing<'_>) -> Result<()> {
        self.each_side(|line| writing.writer.side(line, writing.out).map_err(failed))
    }

    fn each_side(&self, mut with: impl FnMut(&str) -> Result<()>) -> Result<()> {
        let (Ok(sources), Some(source)) = (self.engine.sources(), self.sources.first()) else {
            return Ok(());
        };
        let mut step = 0;
        while let Some(ranges) = sources.source_spans(source.id, step)? {
            for range in &ranges {
                let SourceSpan::Other(bytes) = range else { continue };
                for line in bytes.split(|byte| *byte == b'\n') {
                    if let Ok(line) = std::str::from_utf8(line)
                        && line.starts_with('{')
                    {
                        with(line)?;
                    }
                }
            }
            step += 1;
        }
        Ok(())
    }

    /// Writes the messages that the model would receive to the session file, in the agent's format.
    fn write_view(&self, writing: &mut Writing<'_>) -> Result<()> {
        let inspection = self.engine.inspect_up_to(&self.header.id, self.end)?;
        for (kind, count) in inspection.excluded {
            *writing.losses.entry(kind).or_default() += count;
        }
        let mut messages = inspection.messages;
        while let Some(sent) = messages.next_sent() {
            writing.message(sent?)?;
        }
        Ok(())
    }
}

struct Writing<'a> {
    writer: Box<dyn FileWriter>,
    out: &'a mut dyn Write,
    exchanges: Exchanges,
    exported: Exported,
    losses: Losses,
}

impl Writing<'_> {
    fn record(&mut self, event: &Event) -> Result<()> {
        self.finish_exchanges()?;
        self.exchanges.pass(&event.effect.calls);
        if self.writer.record(event, self.out).map_err(failed)? {
            self.exported.events += 1;
        } else {
            self.lose(event.kind.as_str());
        }
        Ok(())
    }

    /// Writes a summary as a record of the agent. Returns whether the agent has one.
    fn summary(&mut self, event: &Event, messages: &[Message]) -> Result<bool> {
        self.finish_exchanges()?;
        let texts: Vec<_> = messages.iter().map(Message::plain_text).collect();
        let is_written = self.writer.summary(event, &texts.join("\n"), self.out).map_err(failed)?;
        self.exported.events += u64::from(is_written);
        Ok(is_written)
    }

    fn message(&mut self, sent: Sent) -> Result<()> {
        self.exported.events += 1;
        let ready = self.exchanges.push(sent);
        self.write_messages(&ready)
    }

    /// Writes all messages that still wait in the queue for the results of their tool calls.
    fn finish_exchanges(&mut self) -> Result<()> {
        let ready = self.exchanges.finish();
        self.write_messages(&ready)
    }

    fn write_messages(&mut self, ready: &[Sent]) -> Result<()> {
        for Sent { message, ts, starts_turn } in ready {
            let timed = TimedMessage { message, ts: *ts, starts_turn: *starts_turn };
            self.writer.message(&timed, self.out).map_err(failed)?;
        }
        Ok(())
    }

    fn lose(&mut self, kind: &str) {
        *self.losses.entry(kind.to_owned()).or_default() += 1;
    }
}

/// Checks whether a text contains the name of a file without its extension.
fn is_named(file: &StoredFile, text: &str) -> bool {
    let stem = file.relative_path().file_stem().and_then(std::ffi::OsStr::to_str);
    stem.is_some_and(|stem| text.contains(stem))
}

fn failed(source: std::io::Error) -> Error {
    Error::io("writing the export", source)
}
