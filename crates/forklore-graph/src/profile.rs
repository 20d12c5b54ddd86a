//! Profiles: the rules that a graph store applies to its sessions.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::str::FromStr;

use forklore_store::disk::{self, folder_of, os};
use forklore_store::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

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
    /// The profile, as JSON of any form, because another version of the file may write it in
    /// another form.
    profile: Value,
}

const NAME: &str = "graph.json";
const KIND: &str = "graph";
const VERSION: u32 = 1;

impl Profile {
    /// Returns the profile of the graph store in a directory. If the directory is empty, first
    /// writes the requested profile, or [`Profile::Plain`]. If several processes do this at once,
    /// the first one decides the profile.
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
                create(&path, requested.unwrap_or_default())?;
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

    /// Returns the profile of the graph store in a directory. Returns `None` if the directory is
    /// empty or has only files of a graph store that is being made. Writes nothing.
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
        let damaged = |error: serde_json::Error| Error::Corrupt {
            session: None,
            seq: None,
            location: path.display().to_string(),
            message: error.to_string(),
        };
        let marker: Marker = serde_json::from_slice(&text).map_err(damaged)?;
        if marker.forklore != KIND {
            let folder = folder_of(path).display();
            return Err(Error::Unsupported(format!("{folder} is no graph store")));
        }
        disk::check_version(path, marker.version, VERSION)?;
        serde_json::from_value(marker.profile).map(Some).map_err(damaged)
    }
}

fn is_ours(name: &std::ffi::OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with(NAME))
}

/// Creates the file that marks a directory as a graph store, with its content and atomically. Does
/// nothing if another process or thread has created it meanwhile: the first one decides the
/// profile.
fn create(path: &Path, profile: Profile) -> Result<()> {
    let failed = |error| os("making the store", path)(error);
    let marker = Marker { forklore: KIND.into(), version: VERSION, profile: json!(profile) };
    // The name of the temporary file is random. A process id is not unique, because threads share
    // it and two processes in different containers can have the same.
    let random = BuildHasher::hash_one(&RandomState::new(), 0);
    let new = path.with_extension(format!("json-{random:016x}"));
    let made = write(&new, &marker).and_then(|()| match std::fs::hard_link(&new, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    });
    let _ = std::fs::remove_file(&new);
    made.and_then(|()| File::open(folder_of(path))?.sync_all()).map_err(failed)
}

fn write(path: &Path, marker: &Marker) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(path)?;
    serde_json::to_writer(&file, marker)?;
    file.write_all(b"\n")?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    #[test]
    fn one_of_many_that_create_a_store_at_once_decides_its_profile() {
        const THREADS: usize = 16;
        for _ in 0..50 {
            let folder = tempfile::tempdir().unwrap();
            let start = Barrier::new(THREADS);
            let settled = |number: usize| {
                let profile = [Profile::Plain, Profile::Trails][number % 2];
                start.wait();
                (profile, Profile::settle(folder.path(), Some(profile)).is_ok())
            };
            let settled: Vec<_> = thread::scope(|scope| {
                let settled = &settled;
                let threads: Vec<_> =
                    (0..THREADS).map(|number| scope.spawn(move || settled(number))).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            let stands = Profile::found(folder.path()).unwrap().unwrap();
            let expected = settled.iter().map(|(profile, _)| (*profile, *profile == stands));
            assert_eq!(settled, expected.collect::<Vec<_>>());
            let left = std::fs::read_dir(folder.path()).unwrap();
            let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
            assert_eq!(left, [NAME]);
        }
    }

    #[test]
    fn a_marker_that_is_not_ours_gets_its_own_message() {
        let folder = tempfile::tempdir().unwrap();
        let (path, shown) = (folder.path().join(NAME), folder.path().display());
        let found = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Profile::found(folder.path()).unwrap_err().to_string()
        };
        let newer = r#"{"forklore":"graph","version":2,"profile":{"rules":"wide"}}"#;
        assert_eq!(
            found(newer),
            format!(
                "{shown}/graph.json has the version 2 and this program knows up to 1; \
                 use a newer forklore"
            )
        );
        let zero = r#"{"forklore":"graph","version":0,"profile":"plain"}"#;
        assert!(found(zero).contains("no program gave it the version 0"), "{}", found(zero));
        let other = r#"{"forklore":"files","version":1,"profile":"plain"}"#;
        assert_eq!(found(other), format!("{shown} is no graph store"));
        let unknown = r#"{"forklore":"graph","version":1,"profile":"wide"}"#;
        assert!(found(unknown).contains("unknown variant `wide`"), "{}", found(unknown));
    }
}
