//! What the commands share: the store, opened when first needed, and where names are looked up.

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

    /// The verbs over the store. Opening it may make it, so names are checked before.
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

    /// Which store is meant; nothing is opened.
    ///
    /// # Errors
    /// When the URL names no store, or there is no home directory.
    pub(crate) fn store_url(&self) -> Result<StoreUrl> {
        store::url(self.globals.store.as_deref())
    }

    /// Says what should be known about where the store lies, once it was used.
    pub(crate) fn warn(&self, output: &mut Output) {
        let used = self.engine.get().and_then(|_| self.store_url().ok());
        if let Some(warning) = used.and_then(|url| url.warning()) {
            output.remark(&warning);
        }
    }

    /// The folder that new sessions belong to.
    ///
    /// # Errors
    /// When the current directory is gone.
    pub(crate) fn workspace(&self) -> Result<Workspace> {
        workspace::of(self.globals.workspace.as_deref())
    }

    /// Where `last`, labels and lists look.
    ///
    /// # Errors
    /// When the current directory is gone.
    pub(crate) fn scope(&self) -> Result<Scope> {
        let workspace = if self.globals.all { None } else { Some(self.workspace()?) };
        Ok(Scope { workspace })
    }

    /// The session that a verb may change: never a file.
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

    /// The session that a verb reads or forks; a file is imported first.
    ///
    /// # Errors
    /// `invalid_args`, `not_found`, or what the import comes to.
    pub(crate) fn session(&self, reference: &SessionRef, output: &mut Output) -> Result<Header> {
        match reference {
            SessionRef::Stored(_) => self.stored(reference),
            SessionRef::File(path) => crate::session_ref::import(self, path, output),
        }
    }
}
