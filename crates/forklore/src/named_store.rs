//! The stores that people and programs name without a complete URL.

use std::fs::DirBuilder;
use std::io;
use std::path::Path;

use etcetera::BaseStrategy as _;

use crate::{OpenError, StoreUrl};

impl StoreUrl {
    /// Returns the default store of the user: the SQLite file `forklore/sessions.db` in the platform's
    /// data directory. Returns `None` if the user has no home directory.
    #[must_use]
    pub fn of_user() -> Option<Self> {
        let dirs = etcetera::base_strategy::choose_native_strategy().ok()?;
        Some(Self::Sqlite(dirs.data_dir().join("forklore").join("sessions.db")))
    }

    /// Returns the store that somebody named: by its URL, or by the path of an SQLite file.
    ///
    /// # Errors
    /// Returns an error if the text names no store.
    pub fn named(text: &str) -> Result<Self, OpenError> {
        Ok(url_of(text).parse::<Self>()?.with_user_cache())
    }

    /// Puts what is computed from a store in a database or on a server into the user's cache directory,
    /// if there is one and the URL says nothing about it ([`with_cache`](Self::with_cache)).
    #[must_use]
    pub fn with_user_cache(self) -> Self {
        match etcetera::base_strategy::choose_native_strategy() {
            Ok(dirs) => self.with_cache(&dirs.cache_dir().join("forklore")),
            Err(_) => self,
        }
    }
}

/// Returns the URL of a store that somebody named: a URL, or the path of an SQLite file.
#[must_use]
pub fn url_of(text: &str) -> String {
    // A path without a URL scheme means an SQLite file. A single letter before the colon is a
    // drive, not a scheme. Any other lowercase word is a scheme: if the scheme is unknown, parsing
    // the URL fails.
    let is_scheme = |name: &str| name.len() > 1 && name.bytes().all(|b| b.is_ascii_lowercase());
    let is_url = text.split_once(':').is_some_and(|(scheme, _)| is_scheme(scheme));
    if is_url { text.to_owned() } else { format!("sqlite:{text}") }
}

/// Creates a folder that only its owner can access, unless the folder exists already. Sessions are
/// private.
///
/// # Errors
/// Returns the error of the operating system.
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
