//! `import --watch`: watches the folders of agents, and imports each change of a session file.
//!
//! A watch writes everything that it reads into the store. So a watch can end at any time without a
//! loss, and several watches can run at the same time.

mod followed;
mod news;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use forklore::Engine;
use forklore::core::ErrorKind;
use forklore::core::agent_format::AgentFormat;
use forklore::import::{ImportOptions, ImportReport, Importer};
use forklore_workspace::{WorkspaceFiles, project_folder};

use self::followed::{Followed, Next};
use self::news::News;
use super::Args;
use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::{agents, interrupts};

/// The duration of a watch's pause after an import, as a multiple of the import's duration. The
/// pause limits the watch's CPU use, even if a change requires a comparison of a very long file
/// with its imported version.
const REST: u32 = 4;
/// The pause of a watch before it retries an import that the store refused.
const AGAIN: Duration = Duration::from_secs(5);

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let paths = paths(&args.path)?;
    let options = ImportOptions { found: true, ..ImportOptions::of(&super::request(args, app)?) };
    app.serve_metrics(args.metrics.as_deref(), output)?;
    let engine = app.engine_or_new()?;
    let mut followed = Followed::new(&paths);
    let ended = interrupts::gently(&options.stop, followed.stopper())?;
    let files = args.files.then(|| app.files()).transpose()?;
    let mut watch = Watch { engine, options, files, news: News::new(output), has_looked: false };

    watch.news.begin(&paths)?;
    let mut paths: Vec<_> = paths.iter().filter(|location| location.exists()).cloned().collect();
    loop {
        let begun = Instant::now();
        let refused = watch.look(&paths)?;
        let rest = if refused { AGAIN } else { begun.elapsed() * REST };
        if refused {
            followed.look_again(&paths);
        }
        match followed.next(rest) {
            Next::Look(changed) => paths = changed,
            Next::Stop => break,
        }
    }
    watch.news.end()?;
    if ended.by_interrupt() { Err(Failure::Answered(ErrorKind::Interrupted)) } else { Ok(()) }
}

/// Returns the paths to watch: those on the command line, or else the default folders of all agents
/// that forklore supports. A default folder need not exist yet.
fn paths(named: &[PathBuf]) -> Result<Vec<PathBuf>> {
    if named.is_empty() {
        let paths: Vec<_> = agents::all().into_iter().flat_map(|agent| agent.folders).collect();
        let homeless = "there is no home directory in which agents could keep sessions";
        return if paths.is_empty() { Err(Failure::invalid(homeless)) } else { Ok(paths) };
    }
    let real = |path: &PathBuf| {
        let doing = format!("looking for {}", path.display());
        path.canonicalize().map_err(|source| Failure::File { doing, source })
    };
    named.iter().map(real).collect()
}

struct Watch<'a> {
    engine: &'a Engine,
    options: ImportOptions,
    /// Records the files of a session's folder when its agent has written.
    files: Option<WorkspaceFiles>,
    news: News<'a>,
    /// Whether the files that were there at the begin were imported. What they say of a folder is
    /// old, so it belongs to no present state.
    has_looked: bool,
}

/// Checks, from the path alone, whether the agent with the record format `dialect` may have written
/// a file. The file can be a session file, or a sidecar (a file that the agent stores next to a
/// session file).
fn reads(dialect: &dyn AgentFormat, path: &Path) -> bool {
    dialect.may_own(path) || dialect.belongs_to(path).is_some()
}

impl Watch<'_> {
    /// Imports the new data of the session files at these paths, and reports session files that
    /// were deleted. Returns whether the store refused the import.
    fn look(&mut self, paths: &[PathBuf]) -> Result<bool> {
        let (there, gone): (Vec<_>, Vec<_>) =
            paths.iter().cloned().partition(|path| path.symlink_metadata().is_ok());
        for path in &gone {
            if !self.may_be_session(path) {
                continue;
            }
            let sessions = Importer::new(self.engine).sessions_of(path);
            self.news.gone(path, &sessions.unwrap_or_default())?;
        }
        let to_read: Vec<_> = there.into_iter().filter(|path| self.is_meant(path)).collect();
        if to_read.is_empty() {
            return Ok(false);
        }
        match Importer::new(self.engine).import(&to_read, &self.options, &mut |_| {}) {
            Ok(report) => {
                self.news.tell(&report)?;
                self.record_files(&report)?;
                self.has_looked = true;
                Ok(false)
            }
            Err(error) => self.news.refused(&error).map(|()| true),
        }
    }

    /// Records the files of the folders of those sessions that have grown.
    fn record_files(&mut self, report: &ImportReport) -> Result<()> {
        let Some(files) = self.files.as_ref().filter(|_| self.has_looked) else { return Ok(()) };
        for grown in report.sessions.iter().filter(|session| session.appended > 0) {
            let Ok(header) = self.engine.show(&grown.session_id) else { continue };
            let folder = project_folder(Path::new(header.workspace.as_str()));
            let Some(folder) = folder else { continue };
            match files.snapshot(self.engine, &header, &folder) {
                Ok(recorded) if recorded.unchanged => {}
                Ok(recorded) => self.news.recorded(recorded)?,
                Err(error) => self.news.not_recorded(&error.to_string()),
            }
        }
        Ok(())
    }

    /// Checks whether to import a changed path. Accepts a folder, and a file that can belong to an
    /// agent. Rejects a symbolic link, because the link can lead anywhere. A scan of the folder
    /// that contains the link decides about its target.
    fn is_meant(&self, path: &Path) -> bool {
        let Ok(about) = path.symlink_metadata() else { return false };
        about.is_dir() || (about.is_file() && self.may_be_session(path))
    }

    fn may_be_session(&self, path: &Path) -> bool {
        let dialects = self.engine.agent_formats();
        match &self.options.from {
            Some(name) => dialects.named(name).is_some_and(|dialect| reads(dialect, path)),
            None => dialects.0.iter().any(|dialect| reads(*dialect, path)),
        }
    }
}
