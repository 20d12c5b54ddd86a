//! The claim of an id: the one file of its name in the store, made before the session.
//!
//! It says where the session lies and how much of its file is known to be durable. Both can be
//! found without it: it is an index, never the truth, and one that cannot be read is passed over.

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

/// What a claim says. All its fields have a fixed width once the session is named, so that it is
/// written again in place.
#[derive(Debug, Serialize, Deserialize)]
struct Claim {
    id: SessionId,
    workspace: String,
    /// The length of the session's file that was acknowledged, in 20 digits.
    durable: String,
}

/// Where a session lies.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) segment: Segment,
    /// How much of its file is known to be durable; 0 when nothing is known.
    pub(crate) durable: u64,
}

/// The claim of a session, this much of whose file is durable.
pub(crate) fn encoded(id: &SessionId, segment: &Segment, durable: u64) -> Result<String> {
    let workspace = segment.workspace().to_owned();
    let claim = Claim { id: id.clone(), workspace, durable: format!("{durable:020}") };
    line::sealed(&claim).map_err(|error| Error::io(format!("claiming {id}"), error))
}

impl Folder {
    /// Where the session with this id lies; none when there is none, whoever claims its id.
    pub(crate) fn find(&self, id: &SessionId) -> Result<Option<Found>> {
        self.find_name(Name::of_session(id).as_str())
    }

    /// Where the session with this name lies.
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
            // A session is never forgotten because its file is lost.
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
        // One of another id was put here by somebody else.
        let claim = claim.filter(|claim| Name::of_session(&claim.id).as_str() == name);
        Ok(claim.and_then(|claim| {
            let segment = Segment::at(&claim.workspace, name);
            let durable = claim.durable.parse().ok()?;
            segment.is_sound().then_some(Found { segment, durable })
        }))
    }

    /// The id that a claim names, where it can be read.
    pub(crate) fn claimant(&self, name: &str) -> Option<SessionId> {
        let bytes = self.read(&self.layout.claim(name)).ok()??;
        let claim: Claim = serde_json::from_str(line::checked(&bytes).ok()?).ok()?;
        Some(claim.id)
    }

    /// How much of a file is known to be durable now.
    pub(crate) fn durable(&self, segment: &Segment) -> Result<u64> {
        let found = self.claimed(segment.name())?.filter(|found| found.segment == *segment);
        Ok(found.map_or(0, |found| found.durable))
    }

    /// Takes the id for a session that will lie in `segment`. Only one can make the file; a claim
    /// whose session was never made is taken over.
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

    /// Says, durably, that nothing is known of a file that is about to be replaced by a shorter.
    pub(crate) fn unmark(&self, id: &SessionId, segment: &Segment) -> Result<()> {
        let path = self.layout.claim(segment.name());
        let Some(file) = self.open(&path, Open::Write)? else {
            return Ok(());
        };
        self.write(&*file, &path, encoded(id, segment, 0)?.as_bytes(), 0)?;
        self.sync(&*file, &path)
    }

    /// Every file of events with the key of its workspace: sessions' own, then copies.
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
