//! An open store.

use std::path::Path;
use std::sync::Arc;

use forklore::{Engine, StoreUrl, blocking, create_private_folder};
use forklore_api::Request;

use crate::failure::{Failure, Result};
use crate::open_store::{Core, OpenStore};
use crate::rows::Rows;
use crate::{answer, attachment, export};

/// The environment variable that names the store, if the caller names none. The program reads it too.
const VARIABLE: &str = "FORKLORE_STORE";

/// An open store. Several threads may call its methods at once; the calls run in parallel.
///
/// A connection belongs to the process that opened it. In a process that was forked from that one,
/// every call fails, because locks and connections do not survive a fork.
pub struct Connection {
    store: Arc<OpenStore>,
    location: String,
}

impl Connection {
    /// Opens the store that `url` names, such as `sqlite:PATH`, and creates it if it does not exist.
    /// Text without a scheme is the path of an SQLite file. Without a URL, opens the store of the
    /// program `forklore`: the one that the environment variable `FORKLORE_STORE` names, or else the
    /// user's default store.
    ///
    /// # Errors
    /// `invalid_args` if the URL names no store, and whatever prevents the store from being opened.
    pub fn open(url: Option<&str>) -> Result<Self> {
        let variable = std::env::var(VARIABLE).ok().filter(|url| !url.is_empty());
        let store = match url.map(str::to_owned).or(variable) {
            Some(url) => StoreUrl::named(&url)?,
            None => StoreUrl::of_user().ok_or_else(|| {
                Failure::invalid("there is no home directory for the default store")
                    .or_try("name a store, for example sqlite:sessions.db")
            })?,
        };
        if let Some(folder) = store.path().and_then(Path::parent) {
            create_private_folder(folder).map_err(|source| {
                forklore::Error::io("creating the folder of the store", source)
            })?;
        }
        let location = format!("{}:{}", store.scheme(), store.location());
        Ok(Self { store: OpenStore::new(blocking::open_url(&store)?), location })
    }

    /// Returns the kind and the location of the store, without a password.
    #[must_use]
    pub fn location(&self) -> &str {
        &self.location
    }

    /// Closes the store. Calls of other threads end first, and later ones fail. Iterators and cores of
    /// faces let go of the store.
    pub fn close(&self) {
        self.store.close();
    }

    /// Makes something that uses the store beyond one call.
    ///
    /// # Errors
    /// `invalid_args` if the store was closed, `unsupported` if this is not the process that opened
    /// it, and the error of `make`.
    pub fn core<T: Send + Sync + 'static>(
        &self,
        make: impl FnOnce(&Engine) -> Result<T>,
    ) -> Result<Core<T>> {
        Core::new(&self.store, make)
    }

    /// Returns the engine of the store, for code that ends before the connection is closed.
    ///
    /// # Errors
    /// `invalid_args` if the store was closed, `unsupported` if this is not the process that opened
    /// it.
    pub fn engine(&self) -> Result<Engine> {
        Ok(self.store.begin()?.engine()?.clone())
    }

    /// Executes a [`Request`] and returns its answer as JSON: one object, or a list for a verb that
    /// answers with lines. Use [`rows`](Self::rows) for a list that may be long.
    ///
    /// # Errors
    /// `invalid_args` if the request is not one of the contract, `unsupported` if the verb needs more
    /// than a store (a model, a terminal), and the errors of the verb.
    pub fn call(&self, request: &str) -> Result<String> {
        answer::of(self.store.begin()?.engine()?, forklore_api::read(request)?)
    }

    /// Executes a [`Request`] whose answer is a line for each item: `log` or `replay`.
    ///
    /// # Errors
    /// Those of [`call`](Self::call), and `invalid_args` for a verb with another answer.
    pub fn rows(&self, request: &str) -> Result<Rows> {
        Rows::new(&self.store, forklore_api::read(request)?)
    }

    /// Executes a [`Request`] that sends bytes: `attach`. Returns its answer as JSON.
    ///
    /// # Errors
    /// Those of the verb, and `invalid_args` for a verb that takes no bytes.
    pub fn send(&self, request: &str, bytes: &[u8]) -> Result<String> {
        attachment::attach(self.store.begin()?.engine()?, forklore_api::read(request)?, bytes)
    }

    /// Executes a [`Request`] whose answer is bytes: `read_attachment`, `export` or `restore`, each
    /// without a path.
    ///
    /// # Errors
    /// Those of the verb, and `invalid_args` for a verb with another answer.
    pub fn receive(&self, request: &str) -> Result<Vec<u8>> {
        let call = self.store.begin()?;
        let engine = call.engine()?;
        match forklore_api::read(request)? {
            Request::ReadAttachment(request) => attachment::read(engine, &request),
            Request::Export(request) => export::export(engine, &request),
            Request::Restore(request) => export::restore(engine, &request),
            _ => Err(Failure::invalid("the answer of this verb is no bytes")),
        }
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("location", &self.location).finish_non_exhaustive()
    }
}
