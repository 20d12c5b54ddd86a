//! The other store of `push`, `pull`, `clone` and `handoff`: how arguments name it.

use std::path::Path;

use forklore::core::ErrorKind;
use forklore::{Engine, StoreUrl, blocking, without_password};

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::{store, wiring};

/// The other store of a transfer.
pub(super) struct OtherStore {
    text: String,
    url: StoreUrl,
}

/// What the arguments of a transfer name.
pub(super) struct Named {
    /// The reference to a session, if one is named.
    pub(super) session: Option<String>,
    /// The other store.
    pub(super) other: OtherStore,
}

impl Named {
    /// Reads the arguments `[SESSION] [REMOTE]`. A single argument, which clap takes for the first
    /// one, is the store if it can be one: the name of a remote, a URL, or a path. Without a store,
    /// the only remote is used.
    ///
    /// # Errors
    /// When no store is named and the configuration does not have just one remote, or when the
    /// store is none that lasts.
    pub(super) fn read(session: Option<&str>, other: Option<&str>, app: &App) -> Result<Self> {
        let (session, other) = match (session, other) {
            (session, Some(other)) => (session, OtherStore::named(other, app)?),
            (Some(other), None) if is_store(other, app)? => (None, OtherStore::named(other, app)?),
            (session, None) => (session, only_remote(session, app)?),
        };
        other.is_not(&app.store_url()?)?;
        Ok(Self { session: session.map(str::to_owned), other })
    }
}

impl OtherStore {
    /// Returns the store that a text names: the name of a remote, a URL, or the path of an SQLite
    /// file.
    ///
    /// # Errors
    /// When the text is no URL of a store that lasts, or the configuration is invalid.
    pub(super) fn named(text: &str, app: &App) -> Result<Self> {
        if !is_location(text)
            && let Some(url) = wiring::read_configuration(app)?.config.remotes.get(text)
        {
            return Self::at(url);
        }
        Self::at(text)
    }

    /// Returns the store at a URL, or in an SQLite file.
    ///
    /// # Errors
    /// When the text is no URL of a store that lasts.
    pub(super) fn at(text: &str) -> Result<Self> {
        let text = forklore::url_of(text);
        let url = store::parse(&text)?;
        if url == StoreUrl::Memory {
            let message = "sessions move between stores that last: name a path or a URL";
            return Err(Failure::invalid(message));
        }
        Ok(Self { text, url })
    }

    /// Returns the only remote of the configuration.
    ///
    /// # Errors
    /// When the configuration is invalid or does not have just one remote.
    pub(super) fn only_remote(app: &App) -> Result<Self> {
        only_remote(None, app)
    }

    /// Refuses the store that the command itself uses.
    ///
    /// # Errors
    /// When both are the same store.
    pub(super) fn is_not(&self, own: &StoreUrl) -> Result<()> {
        let real = |url: &StoreUrl| url.path().and_then(|path| path.canonicalize().ok());
        let is_same = self.url == *own || (real(own).is_some() && real(own) == real(&self.url));
        if is_same {
            return Err(Failure::invalid("both are the same store; name another one"));
        }
        Ok(())
    }

    /// Opens the store, which must exist.
    ///
    /// # Errors
    /// `not_found` if there is no store. Another error if it cannot be used.
    pub(super) fn existing(&self) -> Result<Engine> {
        blocking::open_existing(&self.url)?.ok_or_else(|| {
            let missing = format!("there is no store at {}", self.url.location());
            Failure::refused(ErrorKind::NotFound, missing)
                .or_try("look for a mistyped name: forklore remote list")
        })
    }

    /// Opens the store, and creates it if it does not exist.
    ///
    /// # Errors
    /// When the store cannot be used.
    pub(super) fn or_new(&self) -> Result<Engine> {
        store::open(Some(&self.text))
    }

    /// Opens the store. If it does not exist, opens an empty one in memory instead.
    ///
    /// # Errors
    /// When the store cannot be used.
    pub(super) fn or_empty(&self) -> Result<Engine> {
        let there = blocking::open_existing(&self.url)?;
        there.map_or_else(|| Ok(blocking::open_url(&StoreUrl::Memory)?), Ok)
    }

    /// Returns the URL, which may contain a password.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the store's path on disk; `None` for a store in a database.
    pub(super) fn path(&self) -> Option<&Path> {
        self.url.path()
    }

    /// Returns the URL without a password.
    pub(super) fn shown(&self) -> String {
        without_password(&self.text)
    }

    /// Returns a name for the store: that of its file or folder without the extension, or that of
    /// the database or the server.
    pub(super) fn name(&self) -> Option<String> {
        match self.url.path() {
            Some(path) => Some(path.file_stem()?.to_string_lossy().into_owned()),
            None => {
                let shown = self.shown();
                let before_options = shown.split('?').next()?;
                let name = before_options.rsplit('/').next()?;
                // A server that has one store is named by its host, without the port.
                name.split(':').next().map(str::to_owned)
            }
        }
    }
}

/// Checks whether a text must be a URL or a path, because no remote and no session has such a name.
fn is_location(text: &str) -> bool {
    text.contains([':', '/', '\\'])
}

fn is_store(text: &str, app: &App) -> Result<bool> {
    if is_location(text) || Path::new(text).is_file() {
        return Ok(true);
    }
    Ok(wiring::read_configuration(app)?.config.remotes.contains_key(text))
}

/// Returns the only remote of the configuration. `session` is what the user named instead of one.
fn only_remote(session: Option<&str>, app: &App) -> Result<OtherStore> {
    let remotes = wiring::read_configuration(app)?.config.remotes;
    let mut urls = remotes.values();
    if let (Some(url), None) = (urls.next(), urls.next()) {
        return OtherStore::at(url);
    }
    let message = match (remotes.is_empty(), session) {
        (true, None) => "name the other store: a URL, a path, or a remote".to_owned(),
        (true, Some(_)) => "name the other store after the session: a URL, a path, or a remote \
                            (none is configured)"
            .to_owned(),
        (false, _) => {
            let names = remotes.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            format!("several remotes are configured; name one of {names}")
        }
    };
    Err(Failure::invalid(message).or_try("forklore remote add NAME URL"))
}
