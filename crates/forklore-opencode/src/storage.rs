//! Reads sessions of opencode versions before 1.2, which stored one file per session, message and
//! part.

use std::collections::HashSet;
use std::fs;
use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use forklore_core::session_container::{ExpandError, Found, Inside, Trouble};
use jiff::Timestamp;
use serde::Deserialize;

use crate::line::{text_field, with};
use crate::lines::Lines;

/// Maximum number of bytes that are read from one file. The rest of a longer file is ignored; no
/// real message or part is that long.
const LONGEST: u64 = 256 << 20;

/// Returns the directory `storage` that contains the session file at `path`. Returns `None` if the
/// path is not `<storage>/session/<project>/<session>.json`.
pub(crate) fn root(path: &Path) -> Option<PathBuf> {
    let sessions = path.parent()?.parent()?;
    let json = path.extension().is_some_and(|end| end == "json");
    (json && sessions.file_name()? == "session").then(|| sessions.parent().map(Path::to_owned))?
}

/// A session of an old opencode version, with all its messages in memory.
pub(crate) struct Opened {
    root: PathBuf,
    id: String,
    info: String,
    messages: Vec<Stored>,
    /// The number of files of messages and parts that are not JSON objects.
    damaged: usize,
    state: i64,
    created: i64,
}

/// A message of a session, with its parts.
struct Stored {
    id: String,
    created: i64,
    info: String,
    parts: Vec<(i64, String, String)>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MessageFields {
    id: String,
    time: Times,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Times {
    created: f64,
    start: f64,
}

impl Opened {
    pub(crate) fn of(path: &Path) -> Result<Self, ExpandError> {
        let no_session = || {
            let message = format!("{} is no session of opencode's", path.display());
            ExpandError::UnknownVersion(message)
        };
        let root = root(path).ok_or_else(no_session)?;
        let mut state = 0;
        let info = read(path, &mut state)?;
        let fields: MessageFields = serde_json::from_str(&info).map_err(|_| no_session())?;
        if !is_name(&fields.id) {
            return Err(no_session());
        }
        let mut opened = Self {
            messages: Vec::new(),
            damaged: 0,
            id: fields.id,
            info: with(&info, &[]),
            state,
            created: millis(fields.time.created),
            root,
        };
        opened.read_messages()?;
        Ok(opened)
    }

    fn read_messages(&mut self) -> Result<(), ExpandError> {
        let folder = self.root.join("message").join(&self.id);
        for path in files(&folder)? {
            let info = read(&path, &mut self.state)?;
            let fields = self.fields(&info);
            let id = name(&path);
            let mut parts = Vec::new();
            if !is_name(&id) {
                continue;
            }
            for path in files(&self.root.join("part").join(&id))? {
                let part = read(&path, &mut self.state)?;
                let fields = self.fields(&part);
                let at = fields.time.start.max(fields.time.created);
                parts.push((millis(at), name(&path), with(&part, &[])));
            }
            // Parts are sorted by id, because few parts contain a time and ids increase in the
            // order of creation.
            parts.sort_by(|a, b| a.1.cmp(&b.1));
            let created = millis(fields.time.created);
            self.messages.push(Stored { id, created, info: with(&info, &[]), parts });
        }
        self.messages.sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
        Ok(())
    }

    /// Reads the fields of a message or part. A text that is not a JSON object counts as damaged,
    /// but is stored nevertheless.
    fn fields(&mut self, text: &str) -> MessageFields {
        let read = serde_json::from_str(text);
        self.damaged += usize::from(read.is_err());
        read.unwrap_or_default()
    }
}

impl Inside for Opened {
    fn sessions(&mut self) -> Result<Vec<Found>, ExpandError> {
        let created = Timestamp::from_millisecond(self.created).ok();
        let caller = text_field(&self.info, "parentID");
        Ok(vec![Found { id: self.id.clone(), caller, created, state: self.state }])
    }

    fn lines(
        &mut self,
        _id: &str,
        earlier: &mut dyn BufRead,
        out: &mut dyn Write,
    ) -> Result<Vec<Trouble>, ExpandError> {
        let mut lines = Lines::behind(earlier, out)?;
        lines.session(&self.info)?;
        let there: HashSet<_> = self.messages.iter().map(|message| message.id.clone()).collect();
        lines.deleted(&there)?;
        // Every message is written, even an unfinished one: only old versions of opencode wrote
        // such directories, so nothing will complete it.
        for Stored { id, info, parts, .. } in &self.messages {
            let parts: Vec<_> = parts.iter().map(|(_, _, part)| part.clone()).collect();
            lines.message(id, info, &parts)?;
        }
        // The facts are repeated after the messages, because they refer to messages.
        lines.whole(&self.info)?;
        let damage = || {
            let message = format!("messages and parts that are not JSON objects: {}", self.damaged);
            Trouble::Damage(message)
        };
        Ok((self.damaged > 0).then(damage).into_iter().collect())
    }
}

/// Checks whether an id is safe as the name of a directory, so that a path with the id stays inside
/// `storage`.
fn is_name(id: &str) -> bool {
    !matches!(id, "" | "." | "..") && !id.contains(['/', '\\'])
}

fn millis(since: f64) -> i64 {
    // `as` saturates, and converts NaN to 0.
    since as i64
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the JSON files in the directory `folder`, sorted by path. Returns none if the directory
/// does not exist or is a symbolic link. Skips files that are symbolic links.
fn files(folder: &Path) -> Result<Vec<PathBuf>, ExpandError> {
    if folder.symlink_metadata().is_ok_and(|about| !about.is_dir()) {
        return Ok(Vec::new());
    }
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(folder, error)),
    };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_file && path.extension().is_some_and(|end| end == "json") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Reads the file at `path`, and adds its size and modification time to the hash `state`.
fn read(path: &Path, state: &mut i64) -> Result<String, ExpandError> {
    let file = fs::File::open(path).map_err(|error| failed(path, error))?;
    let metadata = file.metadata().map_err(|error| failed(path, error))?;
    let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let nanos = since.map_or(0, |since| since.as_nanos() as i64);
    for number in [metadata.len() as i64, nanos] {
        *state = (*state ^ number).wrapping_mul(0x0100_0000_01b3);
    }
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes).map_err(|error| failed(path, error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn failed(path: &Path, source: io::Error) -> ExpandError {
    ExpandError::Io { doing: format!("cannot read {}", path.display()), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_is_no_object_is_stored_and_reported() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("storage");
        for (path, text) in [
            ("session/p/ses_1.json", r#"{"id":"ses_1"}"#),
            ("message/ses_1/msg_1.json", r#"{"id":"msg_1","role":"user"}"#),
            ("part/msg_1/prt_1.json", r#"{"id":"prt_1","type":"text","text":"plan A"}"#),
            ("part/msg_1/prt_2.json", r#"{"id":"prt_2","type":"te"#),
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let mut opened = Opened::of(&root.join("session/p/ses_1.json")).unwrap();
        let mut lines = Vec::new();
        let troubles = opened.lines("ses_1", &mut io::empty(), &mut lines).unwrap();
        let message = "messages and parts that are not JSON objects: 1".to_owned();
        assert_eq!(troubles, [Trouble::Damage(message)]);
        assert!(String::from_utf8(lines).unwrap().contains(r#"\"prt_2\""#));
    }
}
