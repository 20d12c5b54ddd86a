//! What the commands share: the store, opened on first use, and the scope in which names are
//! resolved.

use std::cell::OnceCell;

use forklore::core::Header;
use forklore::core::workspace::Workspace;
use forklore::engine::Scope;
use forklore::{Engine, StoreUrl};

use crate::failure::{Failure, Result};
use crate::globals::Globals;
use crate::output::Output;
use crate::session_ref::SessionRef;
use crate::{store, workspace};

/// One run of the program.
pub(crate) struct App {
    globals: Globals,
    engine: OnceCell<Engine>,
}

impl App {
    pub(crate) fn new(globals: Globals) -> Self {
        Self { globals, engine: OnceCell::new() }
    }

    /// Returns the engine, and opens the store on first use. Opening can create the store, so
    /// commands validate names before they call this.
    ///
    /// # Errors
    /// When the store cannot be used.
    pub(crate) fn engine(&self) -> Result<&Engine> {
        if let Some(engine) = self.engine.get() {
            return Ok(engine);
        }
        let engine = store::open(self.globals.store.as_deref())?;
        Ok(self.engine.get_or_init(|| engine))
    }

    /// Returns the URL of the store without opening it.
    ///
    /// # Errors
    /// When the URL is not that of a store, or there is no home directory.
    pub(crate) fn store_url(&self) -> Result<StoreUrl> {
        store::url(self.globals.store.as_deref())
    }

    /// Warns about the location of the store, if it was used and there is something to warn about.
    pub(crate) fn warn(&self, output: &mut Output) {
        let used = self.engine.get().and_then(|_| self.store_url().ok());
        if let Some(warning) = used.and_then(|url| url.warning()) {
            output.remark(&warning);
        }
    }

    /// Returns the folder that new sessions belong to.
    ///
    /// # Errors
    /// When the current directory was deleted.
    pub(crate) fn workspace(&self) -> Result<Workspace> {
        workspace::of(self.globals.workspace.as_deref())
    }

    /// Returns the scope in which `last`, labels and lists are resolved: a workspace, or the whole
    /// store with `--all`.
    ///
    /// # Errors
    /// When the current directory was deleted.
    pub(crate) fn scope(&self) -> Result<Scope> {
        let workspace = if self.globals.all { None } else { Some(self.workspace()?) };
        Ok(Scope { workspace })
    }

    /// Returns the session for a command that may change it. A session file is refused.
    ///
    /// # Errors
    /// `invalid_args`, `not_found`.
    pub(crate) fn stored(&self, reference: &SessionRef) -> Result<Header> {
        match reference {
            SessionRef::Stored(text) => Ok(self.engine()?.resolve(text, &self.scope()?)?),
            SessionRef::File(_) => Err(Failure::invalid(
                "this verb takes a session of the store; a file is read with import, or by the verbs that only read",
            )
            .or_try("forklore import PATH")),
        }
    }

    /// Returns the session for a command that reads or forks it. A session file is imported first.
    ///
    /// # Errors
    /// `invalid_args`, `not_found`, or an error of the import.
    pub(crate) fn session(&self, reference: &SessionRef, output: &mut Output) -> Result<Header> {
        match reference {
            SessionRef::Stored(_) => self.stored(reference),
            SessionRef::File(path) => crate::session_ref::import(self, path, output),
        }
    }
}
