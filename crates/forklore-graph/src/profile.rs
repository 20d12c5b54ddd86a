//! Profiles: the rules that a graph store applies to its sessions.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use forklore_store::disk::os;
use forklore_store::{Error, Result};
use serde::{Deserialize, Serialize};

/// Maximum fork depth in a store with the Trails profile. A root has depth 0, and a fork is one
/// deeper than its parent.
pub const TRAILS_DEPTH: u64 = 32;

/// The rules that a graph store applies to its sessions. The store records its profile when it is
/// created, so the rules apply to every process that opens the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// No rules except those of every store.
    #[default]
    Plain,
    /// The rules of the Trails profile. Forks are at most [`TRAILS_DEPTH`] levels deep, and
    /// principals must be decentralised identifiers (DIDs). A session with children cannot be
    /// deleted until its children are detached (made independent of it).
    Trails,
}

/// The error for the name of an unknown profile: a string that is neither `plain` nor `trails`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a profile is plain or trails")]
pub struct NotAProfile;

impl FromStr for Profile {
    type Err = NotAProfile;

    fn from_str(word: &str) -> Result<Self, NotAProfile> {
        match word {
            "plain" => Ok(Self::Plain),
            "trails" => Ok(Self::Trails),
            _ => Err(NotAProfile),
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "plain",
            Self::Trails => "trails",
        })
    }
}

/// The content of the file that marks a directory as a graph store.
#[derive(Serialize, Deserialize)]
struct Marker {
    forklore: String,
    version: u32,
    profile: Profile,
}

const NAME: &str = "graph.json";
const VERSION: u32 = 1;

impl Profile {
    /// Returns the profile of the graph store in a directory. If the directory is empty, first
    /// writes the requested profile, or [`Profile::Plain`].
    ///
    /// # Errors
    /// `Unsupported` if the directory contains other files than a graph store, a store with another
    /// profile than the requested one, or a store of a newer version. `Corrupt` if the profile's
    /// file is damaged, `Denied` without permission, and `Io` if reading or writing fails
    /// otherwise.
    pub(crate) fn settle(folder: &Path, requested: Option<Self>) -> Result<Self> {
        let existing = match Self::found(folder)? {
            Some(recorded) => recorded,
            None => {
                let path = folder.join(NAME);
                write(&path, requested.unwrap_or_default())?;
                Self::read(&path)?.unwrap_or_default()
            }
        };
        match requested.filter(|request| *request != existing) {
            Some(request) => Err(Error::Unsupported(format!(
                "{} was made with the profile {existing}, which cannot become {request}",
                folder.display()
            ))),
            None => Ok(existing),
        }
    }

    /// Returns the profile of the graph store in a directory, or `None` if the directory is empty.
    /// Writes nothing.
    ///
    /// # Errors
    /// `Unsupported` if the path is not a directory, if the directory has a graph store of a newer
    /// version, or if it has other files and no graph store. `Corrupt` if the profile's file is
    /// damaged, `Denied` without permission, and `Io` if reading fails otherwise.
    pub(crate) fn found(folder: &Path) -> Result<Option<Self>> {
        if !folder.is_dir() {
            return Err(Error::Unsupported(format!("{} is no folder", folder.display())));
        }
        if let Some(existing) = Self::read(&folder.join(NAME))? {
            return Ok(Some(existing));
        }
        let mut there = std::fs::read_dir(folder).map_err(os("opening the store", folder))?;
        if there.any(|entry| entry.is_ok_and(|entry| !is_ours(&entry.file_name()))) {
            return Err(Error::Unsupported(format!("{} is no graph store", folder.display())));
        }
        Ok(None)
    }

    fn read(path: &Path) -> Result<Option<Self>> {
        let text = match std::fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(os("opening the store", path)(error)),
        };
        let marker: Marker = serde_json::from_slice(&text).map_err(|error| Error::Corrupt {
            session: None,
            seq: None,
            location: path.display().to_string(),
            message: error.to_string(),
        })?;
        if marker.forklore != "graph" || marker.version != VERSION {
            return Err(Error::Unsupported(format!(
                "{} has the version {} and this program knows up to {VERSION}; use a newer forklore",
                path.display(),
                marker.version
            )));
        }
        Ok(Some(marker.profile))
    }
}

fn is_ours(name: &std::ffi::OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with(NAME))
}

/// Writes the file that marks a directory as a graph store. It writes a temporary file and renames
/// it, so a crash leaves no half-written file.
fn write(path: &Path, profile: Profile) -> Result<()> {
    let marker = Marker { forklore: "graph".into(), version: VERSION, profile };
    let text =
        serde_json::to_string(&marker).map_err(|error| Error::io("making a store", error))?;
    let aside = path.with_extension(format!("json-{}", std::process::id()));
    let failed = |error| os("making the store", path)(error);
    let put = || {
        std::fs::write(&aside, text + "\n")?;
        std::fs::File::open(&aside)?.sync_all()?;
        std::fs::rename(&aside, path)?;
        std::fs::File::open(forklore_store::disk::folder_of(path))?.sync_all()
    };
    put().map_err(failed)
}
