//! Reads sessions of opencode versions before 1.2, which stored one file per session, message and
//! part.

mod orphans;

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
    /// The parts of the session whose message does not exist.
    orphans: Vec<StoredPart>,
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
    parts: Vec<StoredPart>,
}

/// A part of a message.
struct StoredPart {
    id: String,
    text: String,
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
            orphans: Vec::new(),
            damaged: 0,
            id: fields.id,
            info: with(&info, &[]),
            state,
            created: millis(fields.time.created),
            root,
        };
        opened.read_messages()?;
        opened.read_orphans()?;
        Ok(opened)
    }

    fn read_messages(&mut self) -> Result<(), ExpandError> {
        let folder = self.root.join("message").join(&self.id);
        for path in files(&folder)? {
            let info = read(&path, &mut self.state)?;
            let fields = self.fields(&info);
            let id = name(&path);
            if !is_name(&id) {
                continue;
            }
            let parts = self.read_parts(&self.root.join("part").join(&id))?;
            let created = millis(fields.time.created);
            self.messages.push(Stored { id, created, info: with(&info, &[]), parts });
        }
        self.messages.sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
        Ok(())
    }

    /// Reads the parts in a directory. They are sorted by id, because few parts contain a time and
    /// ids increase in the order of creation.
    fn read_parts(&mut self, folder: &Path) -> Result<Vec<StoredPart>, ExpandError> {
        let mut parts = Vec::new();
        for path in files(folder)? {
            let text = read(&path, &mut self.state)?;
            self.fields(&text);
            parts.push(StoredPart { id: name(&path), text: with(&text, &[]) });
        }
        parts.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(parts)
    }

    fn read_orphans(&mut self) -> Result<(), ExpandError> {
        let there = self.messages.iter().map(|message| message.id.as_str()).collect();
        for folder in orphans::of_session(&self.root, &self.id, &there)? {
            let parts = self.read_parts(&folder)?;
            self.orphans.extend(parts);
        }
        Ok(())
    }

    /// Reads the fields of a message or part. If `text` is not a JSON object, adds one to `damaged`
    /// and returns empty fields.
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
            let parts: Vec<_> = parts.iter().map(|part| part.text.clone()).collect();
            lines.message(id, info, &parts)?;
        }
        for part in &self.orphans {
            lines.orphan(&part.id, &part.text)?;
        }
        // The values of the session are written again after the messages, because they refer to
        // messages.
        lines.whole(&self.info)?;
        let (damaged, orphans) = (self.damaged, self.orphans.len());
        let troubles = [
            (damaged, format!("messages and parts that are not JSON objects: {damaged}")),
            (orphans, crate::orphans_found(orphans)),
        ];
        let troubles = troubles.into_iter().filter(|(count, _)| *count > 0);
        Ok(troubles.map(|(_, message)| Trouble::Damage(message)).collect())
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

    /// Writes the files of a storage, each a path and its text. Returns the directory.
    fn storage(folder: &Path, files: &[(&str, &str)]) -> PathBuf {
        let root = folder.join("storage");
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    /// Returns the lines of a session and its troubles.
    fn lines(root: &Path, session: &str) -> (Vec<String>, Vec<Trouble>) {
        let path = root.join(format!("session/p/{session}.json"));
        let mut lines = Vec::new();
        let mut opened = Opened::of(&path).unwrap();
        let troubles = opened.lines(session, &mut io::empty(), &mut lines).unwrap();
        let lines = String::from_utf8(lines).unwrap().lines().map(str::to_owned).collect();
        (lines, troubles)
    }

    #[test]
    fn a_part_that_is_no_object_is_stored_and_reported() {
        let folder = tempfile::tempdir().unwrap();
        let root = storage(
            folder.path(),
            &[
                ("session/p/ses_1.json", r#"{"id":"ses_1"}"#),
                ("message/ses_1/msg_1.json", r#"{"id":"msg_1","role":"user"}"#),
                ("part/msg_1/prt_1.json", r#"{"id":"prt_1","type":"text","text":"plan A"}"#),
                ("part/msg_1/prt_2.json", r#"{"id":"prt_2","type":"te"#),
            ],
        );
        let (lines, troubles) = lines(&root, "ses_1");
        let message = "messages and parts that are not JSON objects: 1".to_owned();
        assert_eq!(troubles, [Trouble::Damage(message)]);
        assert!(lines.concat().contains(r#"\"prt_2\""#));
    }

    #[test]
    fn parts_without_a_message_are_stored_with_their_session_and_reported() {
        let folder = tempfile::tempdir().unwrap();
        let orphan = r#"{"id":"prt_2","sessionID":"ses_1","messageID":"msg_2","text":"lost"}"#;
        let root = storage(
            folder.path(),
            &[
                ("session/p/ses_1.json", r#"{"id":"ses_1"}"#),
                ("session/p/ses_2.json", r#"{"id":"ses_2"}"#),
                ("message/ses_1/msg_1.json", r#"{"id":"msg_1","role":"user"}"#),
                ("part/msg_1/prt_1.json", r#"{"id":"prt_1","sessionID":"ses_1"}"#),
                ("part/msg_2/prt_2.json", orphan),
                ("part/msg_3/prt_3.json", "{torn"),
            ],
        );
        let (stored, troubles) = lines(&root, "ses_1");
        assert!(stored.contains(&format!("{{\"part\":{orphan}}}")), "{stored:?}");
        let message = "1 part belongs to no message".to_owned();
        assert_eq!(troubles, [Trouble::Damage(message)]);
        assert_eq!(lines(&root, "ses_2").1, []);
        // A message that appears later has its part again.
        storage(folder.path(), &[("message/ses_1/msg_2.json", r#"{"id":"msg_2","role":"user"}"#)]);
        assert_eq!(lines(&root, "ses_1").1, []);
    }
}
