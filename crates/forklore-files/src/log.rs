//! Reads and searches the event lines of a file.

use std::path::PathBuf;

use forklore_core::lineage::Unit;
use forklore_store::disk::os;
use forklore_store::{Error, Result};

use crate::fs::File;
use crate::line;
use crate::lines::Lines;
use crate::record::EventLine;

/// Length in bytes of a range of a file, below which a search reads the range line by line. The
/// search halves a longer range first.
const NEAR: u64 = 32 << 10;

/// An open file of events. `start` and `end` delimit the lines to read. These are the lines after
/// the first one, up to the end of the last complete step (one write to the file). `end` is the end
/// of the file if the file was opened without looking for that step.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) file: Box<dyn File>,
    pub(crate) path: PathBuf,
    /// The offset in bytes at which the second line begins.
    pub(crate) start: u64,
    /// The offset in bytes after the last line to read. An incomplete write may follow.
    pub(crate) end: u64,
}

/// What a callback returns after an event: continue with the next one, or stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Go,
    Stop,
}

/// Says which event of a file a search must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    /// The event with this seq in the session that owns the file.
    Seq(u64),
    /// The event at which the history's running count of this unit reaches this value. A unit is
    /// inheritable events, conversation events or turns.
    Count(Unit, u64),
}

impl Want {
    fn reached(self, event: &EventLine) -> bool {
        match self {
            Self::Seq(seq) => event.seq >= seq,
            Self::Count(unit, count) => unit.of(&event.counts) >= count,
        }
    }

    /// Checks whether a search found the wanted event. If that event is lost, the search may find a
    /// later one.
    pub(crate) fn is(self, event: &EventLine) -> bool {
        match self {
            Self::Seq(seq) => event.seq == seq,
            Self::Count(unit, count) => {
                let steps = match unit {
                    Unit::Inheritable => event.event.class.is_inherited(),
                    Unit::Index => event.event.class.is_conversation(),
                    Unit::Turns => event.event.effect.starts_turn,
                };
                steps && unit.of(&event.counts) == count
            }
        }
    }
}

impl Log {
    /// Returns the error that reports damage at the byte offset `at` of this file.
    pub(crate) fn damage(&self, at: u64, message: &(impl ToString + ?Sized)) -> Error {
        damage(&self.path, at, message)
    }

    fn event(&self, at: u64, line: &[u8], bare: bool) -> Result<Option<EventLine>> {
        let text = line::checked(line).map_err(|wrong| self.damage(at, wrong))?;
        if !EventLine::is_one(line) {
            return Ok(None);
        }
        EventLine::parse(text, bare).map(Some).map_err(|error| self.damage(at, &error))
    }

    /// Returns the offset of the wanted event's line. If that event is missing, returns the offset
    /// of the first event after it, or `None` if there is none.
    ///
    /// Skips lines that cannot be read. The caller must therefore check that the result is the
    /// wanted event, as [`Log::get`] does.
    pub(crate) fn search(&self, want: Want) -> Result<Option<u64>> {
        let failed = |error| os("reading", &self.path)(error);
        let mut lines = Lines::of(&*self.file);
        let (mut low, mut high) = (self.start, self.end);
        // `low` is behind `high` if the last line that was read reaches beyond `high`.
        while high.saturating_sub(low) > NEAR {
            let middle = low + (high - low) / 2;
            let mut at = lines.boundary(self.start, middle, high).map_err(failed)?;
            let mut reached = true;
            while at < high
                && let Some(line) = lines.forward(at, self.end).map_err(failed)?
            {
                let next = at + line.len() as u64;
                if let Ok(Some(event)) = self.event(at, line, true) {
                    reached = want.reached(&event);
                    if !reached {
                        low = next;
                    }
                    break;
                }
                at = next;
            }
            if reached {
                high = middle;
            }
        }
        let mut at = low;
        while let Some(line) = lines.forward(at, self.end).map_err(failed)? {
            let next = at + line.len() as u64;
            match self.event(at, line, true) {
                Ok(Some(event)) if want.reached(&event) => return Ok(Some(at)),
                _ => at = next,
            }
        }
        Ok(None)
    }

    /// Returns the event that `want` describes, or `None` if the file does not contain it. With
    /// `bare`, returns it without its payload.
    ///
    /// # Errors
    /// `Corrupt` if the event may be missing because a line near its position cannot be read.
    pub(crate) fn get(&self, want: Want, bare: bool) -> Result<Option<EventLine>> {
        let Some(at) = self.search(want)? else {
            return self.lost(self.start, self.end).map_or(Ok(None), Err);
        };
        let mut lines = Lines::of(&*self.file);
        let line = lines.forward(at, self.end).map_err(os("reading", &self.path))?;
        let event = self.event(at, line.unwrap_or_default(), bare)?;
        match event.filter(|event| want.is(event)) {
            Some(event) => Ok(Some(event)),
            None => self.lost(self.start, at).map_or(Ok(None), Err),
        }
    }

    /// Calls `show` for each line of the file after the first one. The arguments are the line's
    /// offset, its bytes, and its text after the checksum was checked.
    ///
    /// # Errors
    /// `Corrupt` at a line that cannot be read.
    pub(crate) fn lines(&self, mut show: impl FnMut(u64, &[u8], &str) -> Result<()>) -> Result<()> {
        let mut lines = Lines::of(&*self.file);
        let mut at = self.start;
        while let Some(line) = lines.forward(at, self.end).map_err(os("reading", &self.path))? {
            let text = line::checked(line).map_err(|wrong| self.damage(at, wrong))?;
            show(at, line, text)?;
            at += line.len() as u64;
        }
        Ok(())
    }

    /// Returns the offset at which the line that begins at the offset `at` ends.
    pub(crate) fn behind(&self, at: u64) -> Result<u64> {
        let mut lines = Lines::of(&*self.file);
        let line = lines.forward(at, self.end).map_err(os("reading", &self.path))?;
        Ok(at + line.map_or(0, |line| line.len() as u64))
    }

    /// Calls `show` for each event from the offset `at` on, with the offset of the event's line.
    /// Stops when `show` returns [`Next::Stop`].
    ///
    /// # Errors
    /// `Corrupt` at any line that cannot be read.
    pub(crate) fn forward(
        &self,
        at: u64,
        bare: bool,
        mut show: impl FnMut(u64, EventLine) -> Result<Next>,
    ) -> Result<()> {
        let mut lines = Lines::of(&*self.file);
        let mut at = at;
        while let Some(line) = lines.forward(at, self.end).map_err(os("reading", &self.path))? {
            let next = at + line.len() as u64;
            if let Some(event) = self.event(at, line, bare)?
                && show(at, event)? == Next::Stop
            {
                return Ok(());
            }
            at = next;
        }
        Ok(())
    }

    /// Calls `show` for each event before the offset `end`, from the last one to the first one.
    /// Stops when `show` returns [`Next::Stop`].
    ///
    /// # Errors
    /// `Corrupt` at any line that cannot be read.
    pub(crate) fn backward(
        &self,
        end: u64,
        bare: bool,
        mut show: impl FnMut(EventLine) -> Result<Next>,
    ) -> Result<()> {
        let mut lines = Lines::of(&*self.file);
        let mut end = end;
        while let Some((at, line)) =
            lines.backward(self.start, end).map_err(os("reading", &self.path))?
        {
            if let Some(event) = self.event(at, line, bare)?
                && show(event)? == Next::Stop
            {
                return Ok(());
            }
            end = at;
        }
        Ok(())
    }

    /// Returns the error of the last unreadable line between two offsets, unless a readable event
    /// line follows it. In that case, and if every line can be read, returns `None`. A search skips
    /// unreadable lines; this function shows whether the search may have missed an event.
    fn lost(&self, from: u64, to: u64) -> Option<Error> {
        let mut lines = Lines::of(&*self.file);
        let mut end = to;
        loop {
            let (at, line) = lines.backward(from, end).ok()??;
            match self.event(at, line, true) {
                Err(error) => return Some(error),
                Ok(Some(_)) => return None,
                Ok(None) => end = at,
            }
        }
    }
}

/// Returns the error that reports damage at the byte offset `at` of the file at `path`.
pub(crate) fn damage(path: &std::path::Path, at: u64, message: &(impl ToString + ?Sized)) -> Error {
    let location = format!("byte {at} of {}", path.display());
    Error::Corrupt { session: None, seq: None, location, message: message.to_string() }
}

/// Adds the session `id` and the seq `number` to an error that reports damage, unless it already
/// names them.
pub(crate) fn of(error: Error, id: &forklore_core::SessionId, number: Option<u64>) -> Error {
    match error {
        Error::Corrupt { session, seq, location: position, message } => Error::Corrupt {
            session: session.or_else(|| Some(id.clone())),
            seq: seq.or(number),
            location: position,
            message,
        },
        other => other,
    }
}
