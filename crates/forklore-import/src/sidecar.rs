//! Finds sidecar files: files without a session that an agent stores next to a session file.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use forklore_core::agent_format::AgentFormat;
use forklore_engine::sources::path_text;
use forklore_engine::{Engine, Result};
use forklore_store::Store;

use crate::file_metadata;
use crate::opened::Opened;
use crate::source_state;
use crate::walk::{self, Wanted};

/// A sidecar file: a file without a session that belongs to the session file `of`.
pub(crate) struct Sidecar {
    pub(crate) path: PathBuf,
    pub(crate) format: &'static dyn AgentFormat,
    pub(crate) of: PathBuf,
    /// The sidecar file's size in bytes.
    pub(crate) size: u64,
    /// Whether a person named this sidecar file, instead of its folder or its session file.
    pub(crate) named: bool,
}

/// Collects the sidecar files of an import.
pub(crate) struct Sidecars<'a> {
    sources: &'a dyn Store,
    formats: Vec<&'static dyn AgentFormat>,
    seen: HashSet<PathBuf>,
    pub(crate) found: Vec<Sidecar>,
}

impl<'a> Sidecars<'a> {
    /// Creates a collector of sidecar files. It collects those of the agent format `only`, or of
    /// all formats if `only` is `None`.
    pub(crate) fn new(
        engine: &Engine,
        sources: &'a dyn Store,
        only: Option<&'static dyn AgentFormat>,
    ) -> Self {
        let formats = only.map_or_else(|| engine.agent_formats().0.to_vec(), |only| vec![only]);
        Self { sources, formats, seen: HashSet::new(), found: Vec::new() }
    }

    /// Checks by its path whether a file may be a sidecar file.
    pub(crate) fn may_be(&self, path: &Path) -> bool {
        self.formats.iter().any(|format| format.belongs_to(path).is_some())
    }

    /// Adds the file at `path` if it is a sidecar file whose session file exists or was imported
    /// before. Returns whether the file was added. If it was not added and a person named it,
    /// treats it as a session file and adds its sidecar files.
    pub(crate) fn add_if_sidecar(&mut self, path: &Path, named: bool) -> Result<bool> {
        let mut owners = Vec::new();
        for format in self.formats.clone() {
            let Some(of) = format.belongs_to(path) else { continue };
            if of.is_file() || self.is_recorded(&of)? {
                owners.push((format, of));
            }
        }
        if let Some((format, of)) = owner(owners) {
            self.add(path.to_owned(), format, of, named);
            return Ok(true);
        }
        if named {
            self.add_all_of(path);
        }
        Ok(false)
    }

    fn is_recorded(&self, of: &Path) -> Result<bool> {
        Ok(source_state::latest(self.sources, &path_text(of))?.is_some())
    }

    fn add_all_of(&mut self, of: &Path) {
        for format in self.formats.clone() {
            let Some(folder) = format.belongings(of).filter(|folder| folder.is_dir()) else {
                continue;
            };
            let belongs = |path: &Path| format.belongs_to(path).is_some_and(|it| it == of);
            let wanted = Wanted { may_own: &|_| false, belongs: &belongs };
            for path in walk::files(&[folder], wanted, &mut Vec::new()) {
                self.add(path, format, of.to_owned(), false);
            }
        }
    }

    fn add(&mut self, path: PathBuf, format: &'static dyn AgentFormat, of: PathBuf, named: bool) {
        if self.seen.insert(path.clone()) {
            let size = file_metadata::look(&path).map_or(0, |seen| seen.size);
            self.found.push(Sidecar { path, format, of, size, named });
        }
    }
}

/// An agent format, and the session file to which a sidecar file would belong in that format.
type Owner = (&'static dyn AgentFormat, PathBuf);

/// Returns the owner of a sidecar file. If the path fits several formats, this is the first owner
/// whose format recognises the session file, or else the first one. Returns `None` if the path fits
/// no format.
fn owner(owners: Vec<Owner>) -> Option<Owner> {
    let recognises =
        |(format, of): &&Owner| Opened::open(of).is_ok_and(|file| format.detect(of, &file.head));
    let recognised = if owners.len() > 1 { owners.iter().find(recognises).cloned() } else { None };
    recognised.or_else(|| owners.into_iter().next())
}
