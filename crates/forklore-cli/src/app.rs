//! The state that the commands share: the global options, the definition of the command line, and
//! the store, which is opened on first use.

use std::cell::OnceCell;
use std::path::Path;
use std::sync::Arc;

use forklore::core::Header;
use forklore::core::workspace::Workspace;
use forklore::engine::Scope;
use forklore::store::Store as _;
use forklore::store::memory::Preview;
use forklore::store::meter::Metered;
use forklore::{Engine, StoreUrl, blocking};
use forklore_host::Setting;
use forklore_workspace::WorkspaceFiles;

use crate::failure::{Failure, Result};
use crate::globals::Globals;
use crate::output::{Output, waiting};
use crate::session_ref::{self, SessionRef};
use crate::{metrics, store, wiring, workspace};

/// One run of the program: its global options, its command line and its engine.
pub(crate) struct App {
    globals: Globals,
    program: fn() -> clap::Command,
    engine: OnceCell<Engine>,
    /// An empty store in memory, for commands that look into the default store before it exists.
    empty: OnceCell<Engine>,
    /// Where the meter of the store goes, if the command has `--metrics`.
    meter: OnceCell<metrics::Slot>,
}

impl App {
    /// Creates the state of one run of the program. `program` returns the definition of its command
    /// line.
    pub(crate) fn new(globals: Globals, program: fn() -> clap::Command) -> Self {
        let (engine, empty, meter) = Default::default();
        Self { globals, program, engine, empty, meter }
    }

    /// Returns the options that every command accepts.
    pub(crate) fn globals(&self) -> &Globals {
        &self.globals
    }

    /// Returns the definition of the command line with all its commands.
    pub(crate) fn program(&self) -> clap::Command {
        (self.program)()
    }

    /// Returns the engine. The first call opens the store, but does not create it: before the
    /// default store exists, the engine has an empty store in memory.
    ///
    /// # Errors
    /// `not_found` when `--store` or `FORKLORE_STORE` names a store that does not exist. Another
    /// error when the store cannot be used.
    pub(crate) fn engine(&self) -> Result<&Engine> {
        if let Some(engine) = self.engine.get().or_else(|| self.empty.get()) {
            return Ok(engine);
        }
        match self.opening(|| store::open_existing(self.globals.store.as_deref()))? {
            Some(engine) => Ok(self.engine.get_or_init(|| self.limited(engine))),
            None => self.empty(),
        }
    }

    /// Returns the engine. Before the store exists, the engine has an empty store in memory, even
    /// if `--store` names the store. Use this for commands that look into the store and may create
    /// it later.
    ///
    /// # Errors
    /// When the store cannot be used.
    pub(crate) fn engine_or_empty(&self) -> Result<&Engine> {
        if let Some(engine) = self.engine.get() {
            return Ok(engine);
        }
        let url = self.store_url()?;
        match self.opening(|| Ok(blocking::open_existing(&url)?))? {
            Some(engine) => Ok(self.engine.get_or_init(|| self.limited(engine))),
            None => self.empty(),
        }
    }

    /// Opens the store with `open`, and says so if a server does not answer soon.
    fn opening<T>(&self, open: impl FnOnce() -> Result<T>) -> Result<T> {
        let url = self.store_url()?;
        if self.globals.silent { open() } else { waiting::for_server(&url, open) }
    }

    fn empty(&self) -> Result<&Engine> {
        let empty = blocking::open_url(&StoreUrl::Memory)?;
        Ok(self.empty.get_or_init(|| empty))
    }

    /// Returns the engine for a command that makes a session, and creates the store if it does not
    /// exist. Commands therefore validate names before they call this method.
    ///
    /// # Errors
    /// When the store cannot be used.
    pub(crate) fn engine_or_new(&self) -> Result<&Engine> {
        if let Some(engine) = self.engine.get() {
            return Ok(engine);
        }
        let engine = self.opening(|| store::open(self.globals.store.as_deref()))?;
        Ok(self.engine.get_or_init(|| self.limited(engine)))
    }

    /// Applies `--max-fork-depth` to the engine. This option can lower the limit that the store
    /// has, but not raise it. Also sets the program's name, which the store records with each
    /// operation.
    fn limited(&self, engine: Engine) -> Engine {
        let limits = [self.globals.max_fork_depth, engine.max_fork_depth()];
        let engine =
            engine.with_max_fork_depth(limits.into_iter().flatten().min()).with_program("forklore");
        let Some(slot) = self.meter.get() else { return engine };
        let metered = Metered::over(engine.shared_store());
        metered.meter().into_iter().for_each(|meter| drop(slot.set(meter)));
        engine.on_store(Arc::new(metered))
    }

    /// Serves what the command counts, if it has `--metrics`. Call this before the store is opened.
    ///
    /// # Errors
    /// When `address` is no address or is in use.
    pub(crate) fn serve_metrics(&self, address: Option<&str>, output: &mut Output) -> Result<()> {
        let Some(address) = address else { return Ok(()) };
        let slot = self.meter.get_or_init(metrics::Slot::default);
        let address = metrics::serve(address, Arc::clone(slot))?;
        output.note(&format!("metrics: http://{address}/metrics"));
        Ok(())
    }

    /// Returns the URL of the store without opening it.
    ///
    /// # Errors
    /// When the URL does not name a store, or there is no home directory for the default store.
    pub(crate) fn store_url(&self) -> Result<StoreUrl> {
        store::url(self.globals.store.as_deref())
    }

    /// Warns about the location of the store, for example a network file system, if the run opened
    /// the store. Also warns about a time zone that cannot be read.
    pub(crate) fn warn(&self, output: &mut Output) {
        if let Some(problem) = output.zone().problem() {
            output.remark(&problem.to_string());
        }
        let used = self.engine.get().and_then(|_| self.store_url().ok());
        if let Some(warning) = used.and_then(|url| url.warning()) {
            output.remark(&warning);
        }
    }

    /// Returns the settings of the command line that override the configuration file.
    pub(crate) fn settings(&self) -> &[Setting] {
        &self.globals.config
    }

    /// Returns the workspace of new sessions: `--workspace`, or the current directory.
    ///
    /// # Errors
    /// When the current directory was deleted.
    pub(crate) fn workspace(&self) -> Result<Workspace> {
        workspace::of(self.globals.workspace.as_deref())
    }

    /// Returns the folder that `--workspace` names; `None` without this option.
    pub(crate) fn named_workspace(&self) -> Option<&Path> {
        self.globals.workspace.as_deref()
    }

    /// Returns the scope for resolving `last` and labels and for listing sessions. It is the
    /// workspace, or the whole store with `--all`.
    ///
    /// # Errors
    /// When the current directory was deleted.
    pub(crate) fn scope(&self) -> Result<Scope> {
        let workspace = if self.globals.all { None } else { Some(self.workspace()?) };
        Ok(Scope { workspace })
    }

    /// Returns the stored session that `reference` names. Tells the user if a label or a title
    /// named a session of another folder. Refuses a session file, because the command may change
    /// the session.
    ///
    /// # Errors
    /// `invalid_args` for a session file or an ambiguous reference, `not_found` if no session
    /// matches.
    pub(crate) fn stored(&self, reference: &SessionRef, output: &mut Output) -> Result<Header> {
        match reference {
            SessionRef::Stored(text) => {
                let scope = self.scope()?;
                let header = self.engine()?.resolve(text, &scope)?;
                let named_by_id = header.id.as_str().contains(text.as_str());
                if scope.workspace.is_some_and(|here| here != header.workspace) && !named_by_id {
                    let Header { id, workspace, .. } = &header;
                    output.remark(&format!("{id} is a session of the folder {workspace}"));
                }
                Ok(header)
            }
            SessionRef::File(_) => Err(Failure::invalid(
                "this verb takes a session of the store; a file is read with import, or by the verbs that only read",
            )
            .or_try("forklore import PATH")),
        }
    }

    /// Returns the session in the trash that `reference` names. A session that is not in the trash
    /// is returned too, if `reference` is its id.
    ///
    /// # Errors
    /// `invalid_args` for a session file or an ambiguous reference, `not_found` if no session
    /// matches.
    pub(crate) fn in_trash(&self, reference: &SessionRef) -> Result<Header> {
        match reference {
            SessionRef::Stored(text) => {
                Ok(self.engine()?.resolve_in_trash(text, &self.scope()?)?)
            }
            SessionRef::File(_) => Err(Failure::invalid("the trash has sessions, not files")
                .or_try("forklore list --deleted")),
        }
    }

    /// Returns the session that `reference` names, for a command that only reads or forks it. If
    /// `reference` names a session file, imports the file first.
    ///
    /// # Errors
    /// `invalid_args` for an ambiguous reference, `not_found` if no session matches, or an error of
    /// the import.
    pub(crate) fn session(&self, reference: &SessionRef, output: &mut Output) -> Result<Header> {
        Ok(self.session_for(reference, false, output)?.0)
    }

    /// Returns the snapshots of the store's workspaces: next to the store, or for a store elsewhere
    /// in the user's data folder.
    ///
    /// # Errors
    /// When `git` is missing, or the folder cannot be created.
    pub(crate) fn files(&self) -> Result<WorkspaceFiles> {
        Ok(self.open_files()?()?)
    }

    /// Returns a function that opens the snapshots of the store's workspaces, as
    /// [`files`](Self::files) does.
    ///
    /// # Errors
    /// When the folder cannot be created.
    pub(crate) fn open_files(
        &self,
    ) -> Result<impl Fn() -> forklore_workspace::Result<WorkspaceFiles> + Send + Sync + use<>> {
        let url = self.store_url()?;
        let (folder, without) = match (url.snapshots(), url.path()) {
            (Some(folder), Some(path)) => (folder, store::files_of(path)),
            _ => (wiring::snapshots_of(&url)?, Vec::new()),
        };
        let most = wiring::max_size_of_snapshots(self)?;
        Ok(move || Ok(WorkspaceFiles::open(&folder, without.clone()).limited_to(most)))
    }

    /// Returns whether the snapshots lie next to the store, so that no other store names them.
    ///
    /// # Errors
    /// When the store's address is invalid.
    pub(crate) fn has_own_files(&self) -> Result<bool> {
        let url = self.store_url()?;
        Ok(url.snapshots().is_some() && url.path().is_some())
    }

    /// Returns the session that `reference` names, and the engine that has it. A dry run changes no
    /// store: if `reference` names a session file, the engine then works on a preview of the store,
    /// into which the file was imported.
    ///
    /// # Errors
    /// The errors of [`session`](Self::session).
    pub(crate) fn session_for(
        &self,
        reference: &SessionRef,
        dry_run: bool,
        output: &mut Output,
    ) -> Result<(Header, Engine)> {
        let SessionRef::File(path) = reference else {
            return Ok((self.stored(reference, output)?, self.engine()?.clone()));
        };
        session_ref::find(path)?;
        let engine = if dry_run {
            let engine = self.engine_or_empty()?;
            engine.on_store(Arc::new(Preview::over(engine.shared_store())))
        } else {
            self.engine_or_new()?.clone()
        };
        Ok((session_ref::import(self, &engine, path, output)?, engine))
    }
}
