//! Changes to several files. The whole change is first written to a journal. Then the files are
//! changed, and the journal is removed.
//!
//! A process that finds a journal first performs the change in it again. Performing a change twice
//! has the same result as performing it once.

mod perform;
mod undo;

use std::borrow::Cow;
use std::sync::Arc;

use forklore_store::disk::{check_version, os};
use forklore_store::{Error, Result};
use serde::{Deserialize, Serialize};

use self::undo::Before;
use crate::folder::{Folder, WHOLE_BYTES};
use crate::fs::Open;
use crate::line;
use crate::line::sealed;
use crate::log::damage;
use crate::overlay::{Change, Overlay};
use crate::record::{VERSION, hex, unhex};

#[derive(Debug, Serialize, Deserialize)]
struct Pending {
    forklore: u32,
    pending: Vec<Write>,
    /// Whether the change takes content away that unfinished copies may contain.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    outdates_copies: bool,
}

/// The change to one file, as the journal stores it. `file` is the path of the file in the store's
/// folder.
#[derive(Debug, Serialize, Deserialize)]
struct Write {
    file: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "keep")]
    retain: Option<u64>,
    /// The bytes that replace those after the first `retain` bytes of the file. `None` if the
    /// change removes the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tail: Option<Tail>,
}

/// Bytes as JSON: a string if they are UTF-8, otherwise hexadecimal digits. Invalid UTF-8 occurs,
/// for example, in the saved end of a damaged session file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Tail {
    Text(String),
    Bytes { hex: String },
}

impl Tail {
    fn of(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self::Text(text),
            Err(error) => Self::Bytes { hex: hex(error.as_bytes()) },
        }
    }

    fn bytes(&self) -> Option<Cow<'_, [u8]>> {
        match self {
            Self::Text(text) => Some(Cow::Borrowed(text.as_bytes())),
            Self::Bytes { hex } => unhex(hex).map(Cow::Owned),
        }
    }
}

impl Folder {
    /// Runs `step`, which may change several files of the store. All its changes become durable
    /// together.
    ///
    /// # Errors
    /// The errors of `step`; no file is changed then. `Invalid` if the journal would be too large
    /// to be read; no file is changed then either. `Io` or `Denied` if a file cannot be written;
    /// the change is undone then. If undoing fails, or if all files are written and removing a file
    /// fails, the journal remains, and the next operation performs the whole change. `Poisoned` if
    /// a sync fails; if the journal then exists, the next process performs the whole change.
    pub(crate) fn together<T>(&self, step: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        let overlay = Arc::new(Overlay::over(self.fs.clone()));
        let above = self.over(overlay.clone());
        let value = step(&above)?;
        let (mut writes, mut before) = (Vec::new(), Vec::new());
        for (path, change) in overlay.take_changes() {
            let file = path.strip_prefix(self.layout.root()).ok().and_then(|file| file.to_str());
            let file = file.ok_or_else(|| Error::io("naming a file", "it lies elsewhere"))?;
            let file = file.to_owned();
            let (retained, tail) = match change {
                Change::Gone => (None, None),
                Change::Content { retain: retained, tail } => {
                    let old = Before::read(self, path, retained)?;
                    if old.is_left_as_it_is(&tail) {
                        continue;
                    }
                    before.push(old);
                    (Some(retained), Some(Tail::of(tail)))
                }
            };
            writes.push(Write { file, retain: retained, tail });
        }
        if !writes.is_empty() {
            let outdates_copies = above.outdates_copies();
            let pending = Pending { forklore: VERSION, pending: writes, outdates_copies };
            let journal = sealed(&pending)?;
            check_size(journal.len())?;
            self.put(&self.layout.pending(), journal.as_bytes())?;
            self.write_all(&pending).inspect_err(|_| self.take_back(&before))?;
            self.remove_all(&pending)?;
            self.mark_like(&above);
        }
        Ok(value)
    }

    /// Checks whether a journal of a change to several files exists. If so, the change is running
    /// or its process was killed.
    pub(crate) fn is_pending(&self) -> Result<bool> {
        Ok(self.open(&self.layout.pending(), Open::Read)?.is_some())
    }

    /// Completes the change to several files that a killed process left in the journal, and removes
    /// the journal. Does nothing without a journal.
    pub(crate) fn finish_pending(&self) -> Result<()> {
        match self.pending()? {
            Some(pending) => {
                // The killed process announced its writes in the feed and cannot record their end.
                // So report that any session may have changed.
                let done = self.finish(&pending);
                done.and_then(|()| self.feed.everything())
            }
            None if self.is_pending()? => self.forget_pending(),
            None => Ok(()),
        }
    }

    /// Reads the journal of a change to several files. Returns `None` if there is none, or if it is
    /// empty because its change is complete.
    ///
    /// # Errors
    /// `Corrupt` if the journal cannot be read; `Unsupported` if a newer version of forklore wrote
    /// it.
    fn pending(&self) -> Result<Option<Pending>> {
        let path = self.layout.pending();
        let bytes = self.read(&path)?.unwrap_or_default();
        if bytes.is_empty() {
            return Ok(None);
        }
        let text = line::checked(&bytes).map_err(|wrong| damage(&path, 0, wrong))?;
        let pending: Pending =
            serde_json::from_str(text).map_err(|error| damage(&path, 0, &error))?;
        check_version(&path, pending.forklore, VERSION)?;
        Ok(Some(pending))
    }

    /// Checks that the journal of a change to several files can be read, if there is one.
    pub(crate) fn check_pending(&self) -> Result<()> {
        self.pending().map(|_| ())
    }

    fn finish(&self, pending: &Pending) -> Result<()> {
        self.write_all(pending)?;
        self.remove_all(pending)
    }

    /// Empties the journal, syncs it and then removes it. After a power failure a removed file may
    /// exist again. A process that finds a journal with content would perform its change a second
    /// time and overwrite later writes. An empty journal is harmless.
    fn forget_pending(&self) -> Result<()> {
        let path = self.layout.pending();
        let file = self.fs.open(&path, Open::Write).map_err(os("opening", &path))?;
        file.set_len(0).map_err(os("clearing", &path))?;
        self.sync(&*file, &path)?;
        self.remove(&path)
    }
}

/// Checks that the next process could read a journal of this many bytes. Otherwise a kill in the
/// middle of the change would leave a journal that stops every later operation.
fn check_size(bytes: usize) -> Result<()> {
    if bytes as u64 <= WHOLE_BYTES {
        return Ok(());
    }
    let message = format!(
        "one step changes {bytes} bytes of several files, and a files store allows {WHOLE_BYTES}; \
         write in smaller steps"
    );
    Err(Error::Invalid(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_that_no_process_could_read_is_refused() {
        assert!(check_size(WHOLE_BYTES as usize).is_ok());
        let error = check_size(WHOLE_BYTES as usize + 1).unwrap_err();
        assert_eq!(
            error.to_string(),
            "one step changes 1073741825 bytes of several files, and a files store allows \
             1073741824; write in smaller steps"
        );
    }
}
