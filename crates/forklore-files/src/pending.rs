//! A step over several files: first written down as a whole, then done, then forgotten.
//!
//! Whoever finds one that was not forgotten does it again before anything else. Doing it twice
//! comes to the same.

use std::sync::Arc;

use forklore_store::disk::os;
use forklore_store::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::commit::sealed;
use crate::folder::Folder;
use crate::fs::Open;
use crate::line;
use crate::log::damage;
use crate::overlay::{Change, Overlay};
use crate::record::VERSION;

#[derive(Debug, Serialize, Deserialize)]
struct Pending {
    forklore: u32,
    pending: Vec<Write>,
}

/// What becomes of a file, by its path in the store's folder.
#[derive(Debug, Serialize, Deserialize)]
struct Write {
    file: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    keep: Option<u64>,
    /// What follows what is kept; none when the file goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tail: Option<String>,
}

impl Write {
    /// Claims come last: they must not promise bytes that are not there.
    fn order(&self) -> (bool, bool) {
        (self.file.starts_with("ids/") || self.file.ends_with(".mark"), self.tail.is_none())
    }
}

impl Folder {
    /// Takes a step that may change several files: all of it or nothing.
    pub(crate) fn together<T>(&self, step: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        let overlay = Arc::new(Overlay::over(self.fs.clone()));
        let above = Self::new(overlay.clone(), self.layout.clone());
        let value = step(&above).inspect_err(|_| self.poisoned_like(&above))?;
        let changes = overlay.changes();
        let mut writes = Vec::with_capacity(changes.len());
        for (path, change) in changes {
            let file = path.strip_prefix(self.layout.root()).ok().and_then(|file| file.to_str());
            let file = file.ok_or_else(|| Error::io("naming a file", "it lies elsewhere"))?;
            let (keep, tail) = match change {
                Change::Gone => (None, None),
                Change::Content { keep, tail } => {
                    let text = String::from_utf8(tail);
                    (Some(keep), Some(text.map_err(|error| Error::io("writing a step", error))?))
                }
            };
            writes.push(Write { file: file.to_owned(), keep, tail });
        }
        if !writes.is_empty() {
            writes.sort_by_key(Write::order);
            let pending = Pending { forklore: VERSION, pending: writes };
            self.put(&self.layout.pending(), sealed(&pending)?.as_bytes())?;
            self.finish(&pending)?;
        }
        Ok(value)
    }

    /// Whether a step over several files is under way, or was when its writer was killed.
    pub(crate) fn is_pending(&self) -> Result<bool> {
        Ok(self.open(&self.layout.pending(), Open::Read)?.is_some())
    }

    /// Does what a killed writer had written down.
    pub(crate) fn finish_pending(&self) -> Result<()> {
        let path = self.layout.pending();
        let Some(bytes) = self.read(&path)? else {
            return Ok(());
        };
        let text = line::checked(&bytes).map_err(|wrong| damage(&path, 0, wrong))?;
        let pending: Pending =
            serde_json::from_str(text).map_err(|error| damage(&path, 0, error))?;
        if pending.forklore != VERSION {
            let path = path.display();
            return Err(Error::Unsupported(format!("a newer forklore wrote {path}; use that")));
        }
        self.finish(&pending)
    }

    fn finish(&self, pending: &Pending) -> Result<()> {
        for write in &pending.pending {
            self.finish_one(write)?;
        }
        self.remove(&self.layout.pending())?;
        // Else it might come back later and be done over what others wrote meanwhile.
        self.sync_name(&self.layout.pending())
    }

    fn finish_one(&self, write: &Write) -> Result<()> {
        let path = self.layout.root().join(&write.file);
        let outside =
            |part: std::path::Component<'_>| !matches!(part, std::path::Component::Normal(_));
        if std::path::Path::new(&write.file).components().any(outside) {
            return Err(damage(&self.layout.pending(), 0, "it names a file outside the store"));
        }
        let Some(tail) = &write.tail else {
            self.remove(&path)?;
            return self.sync_name(&path);
        };
        let keep = write.keep.unwrap_or_default();
        if keep == 0 {
            return self.put(&path, tail.as_bytes());
        }
        let file = self.fs.open(&path, Open::Write).map_err(os("opening", &path))?;
        let len = file.len().map_err(os("reading", &path))?;
        if len < keep {
            return Err(damage(&path, len, "the file is shorter than a step over it expects"));
        }
        if len > keep {
            file.set_len(keep).map_err(os("cutting back", &path))?;
        }
        self.write(&*file, &path, tail.as_bytes(), keep)?;
        self.sync(&*file, &path)
    }
}
