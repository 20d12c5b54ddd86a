//! The claim of a session's id: a file in the folder `ids`. The file is created before the session,
//! and only one process can create it.
//!
//! A claim records in which folder the session's file is, and how many bytes of that file are
//! durable. It is only an index. Without it, the store searches all folders for the file and treats
//! none of its bytes as durable. The store ignores a claim that it cannot read.

use std::io;

use forklore_core::SessionId;
use forklore_store::disk::os;
use forklore_store::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::folder::Folder;
use crate::fs::Open;
use crate::layout::{LINES, Segment};
use crate::line;
use crate::log::damage;
use crate::name::Name;

/// A claim: the small file that assigns a session id to one session. For a given session all fields
/// have a fixed width, so that a write can replace the content without changing the length of the
/// file.
#[derive(Debug, Serialize, Deserialize)]
struct Claim {
    id: SessionId,
    workspace: String,
    /// How many bytes of the session's own file are durable, as 20 decimal digits.
    durable: String,
}

/// The location of a session's file, and how much of the file is durable.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) segment: Segment,
    /// How many bytes of the session's file are durable, or 0 if that is unknown.
    pub(crate) durable: u64,
}

/// Encodes the claim of a session id. `segment` is the location of the session's file, and
/// `durable` the number of durable bytes in it.
pub(crate) fn encoded(id: &SessionId, segment: &Segment, durable: u64) -> Result<String> {
    let workspace = segment.workspace().to_owned();
    let claim = Claim { id: id.clone(), workspace, durable: format!("{durable:020}") };
    line::sealed(&claim).map_err(|error| Error::io(format!("claiming {id}"), error))
}

impl Folder {
    /// Finds the file of the session with this id. Returns `None` if there is no such file, even if
    /// a claim exists. A claim is the file that reserves the id.
    ///
    /// # Errors
    /// `Lost` if the session's file is missing although its claim says that some of it was durable.
    pub(crate) fn find(&self, id: &SessionId) -> Result<Option<Found>> {
        self.find_name(Name::of_session(id).as_str())
    }

    /// Finds the session file whose name (without folder and extension) is `name`.
    ///
    /// # Errors
    /// `Lost` if the file is missing although its claim (the file that reserves the session's id)
    /// says that some of it was durable.
    pub(crate) fn find_name(&self, name: &str) -> Result<Option<Found>> {
        let is_there = |found: &Found| {
            Ok::<_, Error>(self.open(&self.layout.segment(&found.segment), Open::Read)?.is_some())
        };
        if let Some(found) = self.claimed(name)?
            && is_there(&found)?
        {
            return Ok(Some(found));
        }
        for workspace in self.names(&self.layout.workspaces())? {
            let segment = Segment::at(&workspace, name);
            let path = self.layout.segment(&segment);
            if segment.is_sound() && self.open(&path, Open::Read)?.is_some() {
                return Ok(Some(Found { segment, durable: 0 }));
            }
        }
        match self.claimed(name)? {
            // Another process may have made the session during the search. It records what is
            // durable after the file has its name.
            Some(found) if found.durable > 0 && is_there(&found)? => Ok(Some(found)),
            // If some of the file was durable, its loss is damage. The session does not count as
            // one that never existed.
            Some(lost) if lost.durable > 0 => Err(self.lost(name, &lost.segment)),
            _ => Ok(None),
        }
    }

    /// Returns the error for a session whose file is missing although its claim exists.
    fn lost(&self, name: &str, segment: &Segment) -> Error {
        let path = self.layout.segment(segment);
        match self.claimant(name) {
            Some(session) => Error::Lost { session, location: path.display().to_string() },
            None => damage(&path, 0, "it is gone"),
        }
    }

    fn claimed(&self, name: &str) -> Result<Option<Found>> {
        let Some(bytes) = self.read(&self.layout.claim(name))? else {
            return Ok(None);
        };
        let claim: Option<Claim> =
            line::checked(&bytes).ok().and_then(|text| serde_json::from_str(text).ok());
        // Ignore a claim with another id: another program must have written it.
        let claim = claim.filter(|claim| Name::of_session(&claim.id).as_str() == name);
        Ok(claim.and_then(|claim| {
            let segment = Segment::at(&claim.workspace, name);
            let durable = claim.durable.parse().ok()?;
            segment.is_sound().then_some(Found { segment, durable })
        }))
    }

    /// Returns the session id in the claim file with this name. Returns `None` if the file is
    /// missing or cannot be read.
    pub(crate) fn claimant(&self, name: &str) -> Option<SessionId> {
        let bytes = self.read(&self.layout.claim(name)).ok()??;
        let claim: Claim = serde_json::from_str(line::checked(&bytes).ok()?).ok()?;
        Some(claim.id)
    }

    /// Returns how many bytes of a segment (a file of events) are durable at present. Returns 0 if
    /// that is unknown.
    pub(crate) fn durable(&self, segment: &Segment) -> Result<u64> {
        let found = self.claimed(segment.name())?.filter(|found| found.segment == *segment);
        Ok(found.map_or(0, |found| found.durable))
    }

    /// Durably reserves the id for a session whose file is `segment`, by creating a claim file.
    /// Only one process can create this file. If it already exists, its session was never created,
    /// and this session takes over the claim. The caller has checked that no session has the id.
    pub(crate) fn claim(&self, id: &SessionId, segment: &Segment) -> Result<()> {
        let path = self.layout.claim(segment.name());
        let bytes = encoded(id, segment, 0)?;
        let file = match self.fs.open(&path, Open::Create) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let left = self.fs.open(&path, Open::Write).map_err(os("claiming", &path))?;
                left.set_len(0).map_err(os("claiming", &path))?;
                left
            }
            Err(error) => return Err(os("claiming", &path)(error)),
        };
        self.write(&*file, &path, bytes.as_bytes(), 0)?;
        self.sync(&*file, &path)?;
        self.sync_name(&path)
    }

    /// Durably sets the recorded durable length of a session's file to 0. The caller does this
    /// before it replaces the file by a shorter one.
    pub(crate) fn unmark(&self, id: &SessionId, segment: &Segment) -> Result<()> {
        let path = self.layout.claim(segment.name());
        let Some(file) = self.open(&path, Open::Write)? else {
            return Ok(());
        };
        self.write(&*file, &path, encoded(id, segment, 0)?.as_bytes(), 0)?;
        self.sync(&*file, &path)
    }

    /// Finds all files of events: the sessions' own files, and the copies of inherited events. They
    /// are ordered by folder, and in each folder by file name.
    pub(crate) fn segments(&self) -> Result<Vec<Segment>> {
        let mut segments = Vec::new();
        for workspace in self.names(&self.layout.workspaces())? {
            for name in self.names(&self.layout.workspaces().join(&workspace))? {
                let segment = name.strip_suffix(LINES).map(|name| Segment::at(&workspace, name));
                segments.extend(segment.filter(Segment::is_sound));
            }
        }
        Ok(segments)
    }
}
