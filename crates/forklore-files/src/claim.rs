//! The claim of an id: the only file of its name in the store, created before the session.
//!
//! It gives the session's location and how much of its file is durable. Both can be found without
//! it: a claim is an index and never authoritative, and one that cannot be read is ignored.

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

/// The content of a claim. For a given session all fields have a fixed width, so that it is
/// overwritten in place.
#[derive(Debug, Serialize, Deserialize)]
struct Claim {
    id: SessionId,
    workspace: String,
    /// The acknowledged length of the session's file in bytes, as 20 digits.
    durable: String,
}

/// The location of a session.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) segment: Segment,
    /// How much of its file is durable, in bytes; 0 if unknown.
    pub(crate) durable: u64,
}

/// Encodes the claim of a session, of whose file `durable` bytes are durable.
pub(crate) fn encoded(id: &SessionId, segment: &Segment, durable: u64) -> Result<String> {
    let workspace = segment.workspace().to_owned();
    let claim = Claim { id: id.clone(), workspace, durable: format!("{durable:020}") };
    line::sealed(&claim).map_err(|error| Error::io(format!("claiming {id}"), error))
}

impl Folder {
    /// Returns the location of the session with this id, or `None` if it does not exist, even if
    /// its id is claimed.
    pub(crate) fn find(&self, id: &SessionId) -> Result<Option<Found>> {
        self.find_name(Name::of_session(id).as_str())
    }

    /// Returns the location of the session with this name.
    pub(crate) fn find_name(&self, name: &str) -> Result<Option<Found>> {
        if let Some(found) = self.claimed(name)?
            && self.open(&self.layout.segment(&found.segment), Open::Read)?.is_some()
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
            // A session does not become unknown because its file is lost.
            Some(lost) if lost.durable > 0 => {
                Err(damage(&self.layout.segment(&lost.segment), 0, "it is gone"))
            }
            _ => Ok(None),
        }
    }

    fn claimed(&self, name: &str) -> Result<Option<Found>> {
        let Some(bytes) = self.read(&self.layout.claim(name))? else {
            return Ok(None);
        };
        let claim: Option<Claim> =
            line::checked(&bytes).ok().and_then(|text| serde_json::from_str(text).ok());
        // Ignore a claim with another id, which some other program put here.
        let claim = claim.filter(|claim| Name::of_session(&claim.id).as_str() == name);
        Ok(claim.and_then(|claim| {
            let segment = Segment::at(&claim.workspace, name);
            let durable = claim.durable.parse().ok()?;
            segment.is_sound().then_some(Found { segment, durable })
        }))
    }

    /// Returns the id in a claim, if it can be read.
    pub(crate) fn claimant(&self, name: &str) -> Option<SessionId> {
        let bytes = self.read(&self.layout.claim(name)).ok()??;
        let claim: Claim = serde_json::from_str(line::checked(&bytes).ok()?).ok()?;
        Some(claim.id)
    }

    /// Returns how much of a file is durable at present, in bytes.
    pub(crate) fn durable(&self, segment: &Segment) -> Result<u64> {
        let found = self.claimed(segment.name())?.filter(|found| found.segment == *segment);
        Ok(found.map_or(0, |found| found.durable))
    }

    /// Claims the id for a session in `segment`. Only one process can create the file. A claim
    /// whose session was never created is taken over.
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

    /// Records durably that nothing is known about a file that will be replaced by a shorter one.
    pub(crate) fn unmark(&self, id: &SessionId, segment: &Segment) -> Result<()> {
        let path = self.layout.claim(segment.name());
        let Some(file) = self.open(&path, Open::Write)? else {
            return Ok(());
        };
        self.write(&*file, &path, encoded(id, segment, 0)?.as_bytes(), 0)?;
        self.sync(&*file, &path)
    }

    /// Returns every file of events, in the order of its folder: sessions' own files and copied
    /// prefixes.
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
