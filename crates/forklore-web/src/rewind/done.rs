//! Remembers what rewinds did, for the page that comes after one, and for a form that is sent twice.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use forklore_api::FilesRestored;

/// How many are remembered.
const MOST: usize = 64;

/// What a rewind or an undo did.
#[derive(Clone, Debug)]
pub(super) struct One {
    /// The form with which it was requested, which has an id of its own.
    pub(super) form: String,
    pub(super) folder: PathBuf,
    pub(super) number: u64,
    /// Whether the conversation goes on in a fork.
    pub(super) is_forked: bool,
    /// What happened to the files, if they were wanted.
    pub(super) files: Option<FilesRestored>,
    /// The address of the page that comes after it.
    pub(super) address: String,
}

#[derive(Debug, Default)]
pub(crate) struct Done(Mutex<VecDeque<One>>);

/// The list, to which nobody else adds meanwhile.
pub(crate) struct Open<'a>(MutexGuard<'a, VecDeque<One>>);

impl Done {
    /// Waits until no other request changes files.
    pub(crate) fn open(&self) -> Open<'_> {
        Open(self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Open<'_> {
    pub(super) fn add(&mut self, one: One) {
        self.0.push_back(one);
        if self.0.len() > MOST {
            self.0.pop_front();
        }
    }

    /// Returns the address to which a form that was sent before has led.
    pub(super) fn address_of(&self, form: &str) -> Option<String> {
        let sent = self.0.iter().find(|one| !form.is_empty() && one.form == form);
        sent.map(|one| one.address.clone())
    }

    /// Returns what a rewind or an undo of a folder did.
    pub(super) fn one(&self, folder: &Path, number: u64) -> Option<One> {
        let is_it = |one: &&One| one.folder == folder && one.number == number;
        self.0.iter().rev().find(is_it).cloned()
    }
}
