//! The contents of a folder, byte for byte.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The mode and the contents of each file and folder.
type Contents = BTreeMap<PathBuf, (u32, Vec<u8>)>;

/// A folder with a repository of git.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Folder {
    /// What is in `.git`.
    pub(crate) git: Contents,
    /// Everything else.
    pub(crate) files: Contents,
}

impl Folder {
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let mut all = Contents::new();
        add(root, root, &mut all)?;
        let (git, files) = all.into_iter().partition(|(path, _)| path.starts_with(".git"));
        Ok(Self { git, files })
    }

    /// Checks that the folder is as `expected`.
    ///
    /// # Errors
    /// Names what differs.
    pub(crate) fn is(&self, expected: &Self) -> Result<(), String> {
        let mut differing = Vec::new();
        for (found, expected) in [(&self.git, &expected.git), (&self.files, &expected.files)] {
            let paths = found.keys().chain(expected.keys());
            differing.extend(paths.filter(|path| found.get(*path) != expected.get(*path)));
        }
        differing.sort();
        differing.dedup();
        if differing.is_empty() { Ok(()) } else { Err(format!("these differ: {differing:?}")) }
    }
}

fn add(root: &Path, folder: &Path, all: &mut Contents) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(Error::file(folder))? {
        let path = entry.map_err(Error::file(folder))?.path();
        let metadata = fs::symlink_metadata(&path).map_err(Error::file(&path))?;
        let bytes = if metadata.is_dir() {
            add(root, &path, all)?;
            Vec::new()
        } else {
            fs::read(&path).map_err(Error::file(&path))?
        };
        let name = path.strip_prefix(root).unwrap_or(&path).to_path_buf();
        all.insert(name, (metadata.permissions().mode(), bytes));
    }
    Ok(())
}
